// `npm run check`: runs all checks, two at a time where possible, with their times; starts none after a failure.
//   npm run check -- --only lint,types      just these
//   npm run check -- --except tests         all but these
import process from "node:process";
import { parseArgs } from "node:util";
import { checkGenerated } from "./checks/generated.ts";
import { checkGo, checkPython, type CheckOutcome } from "./suites/foreign-checks.ts";
import { run } from "./lib/run.ts";
import { createPaint, formatDuration, wantsColor } from "./lib/terminal.ts";
import { failOnUserError, UserError } from "./lib/user-error.ts";
import { sayWhileWaiting } from "./lib/waiting.ts";
import { BATCHES } from "./suites/batches.ts";
import { formatLongRuns, readLongRuns } from "./suites/long-runs.ts";

interface Step {
  readonly name: string;
  /** What it makes sure of, in a few words. */
  readonly about: string;
  readonly work: () => Promise<CheckOutcome>;
  /** What to run, or to do, when it fails. */
  readonly fix: string;
  /** It writes files that others read, or asserts times. */
  readonly isAlone?: boolean;
}

/** Most of them use one core. */
const STEPS_AT_ONCE = 2;

const OUTPUT_LINES = 120;

const command = (line: string) => async (): Promise<CheckOutcome> => {
  const [program = "", ...args] = line.split(" ");
  const { code, output } = await run(program, args, { output: "keep" });
  return { ok: code === 0, output };
};

const script = (path: string) => command(`node --conditions=development ${path}`);

const STEPS: readonly Step[] = [
  {
    name: "generated",
    about: "generated files are up to date",
    work: checkGenerated,
    fix: "commit what changed",
    isAlone: true,
  },
  { name: "proto", about: "buf lint", work: command("npm run --silent lint -w @cloudwire/proto"), fix: "edit proto/" },
  {
    name: "breaking",
    about: "the contract only grows",
    work: command("npm run --silent breaking -w @cloudwire/proto"),
    fix: "undo the breaking change: the contract may only add",
  },
  { name: "format", about: "layout", work: command("biome format --max-diagnostics=10 ."), fix: "npm run format" },
  {
    name: "lint",
    about: "oxlint, type-aware",
    work: command("oxlint --type-aware --deny-warnings"),
    fix: "npm run lint -- --fix, then by hand",
  },
  {
    name: "layers",
    about: "imports point down only",
    work: script("scripts/checks/layers.ts"),
    fix: "move the code down, or pass it in; the rules and their exceptions are in scripts/checks/layers",
  },
  {
    name: "cycles",
    about: "no import cycles, type-only ones included",
    work: command("biome lint --only=suspicious/noImportCycles ."),
    fix: "move what both need into a file of its own",
  },
  {
    name: "unused",
    about: "files, exports, dependencies",
    work: command("knip --no-progress"),
    fix: "delete what it names",
  },
  { name: "types", about: "tsc -b", work: command("tsc -b"), fix: "npm run build, then by hand" },
  { name: "go", about: "gofmt, go vet", work: checkGo, fix: "install Go, gofmt -w what it names, then by hand" },
  {
    name: "python",
    about: "ruff, mypy",
    work: checkPython,
    fix: "install Python 3.10 or later, then `ruff format` and `ruff check --fix` of the environment it names",
  },
  {
    name: "providers",
    about: "the tree has what each provider.json names",
    work: script("scripts/checks/providers.ts"),
    fix: "do what it says",
  },
  {
    name: "lockfile",
    about: "npm ci works on every platform",
    work: script("scripts/checks/complete-lockfile.ts --check"),
    fix: "npm run lockfile",
  },
  {
    name: "versions",
    about: "one version everywhere",
    work: script("scripts/build/release/version.ts"),
    fix: "npm run release:version -- VERSION",
  },
  {
    name: "tree",
    about: "nothing of this machine is in the tree",
    work: script("scripts/checks/tree.ts"),
    fix: "remove the path or host it names",
  },
  {
    name: "words",
    about: "standard terms, American spelling, subjects of commits",
    work: script("scripts/checks/words.ts"),
    fix: "write what it proposes; what is right stays with a comment words-ok: reason",
  },
  {
    name: "docs",
    about: "links lead somewhere, tested snippets run",
    work: script("scripts/checks/docs.ts"),
    fix: "fix the page that it names",
  },
  {
    name: "tests",
    about: "unit, component and smoke",
    work: command(
      "vitest run --project unit --project component --project component-long --project smoke --maxWorkers=3 --reporter=dot",
    ),
    fix: "npm test -- --only unit,component,component-long,smoke",
    isAlone: true,
  },
];

const paint = createPaint(wantsColor(process.env, process.stdout.isTTY));

async function main(): Promise<number> {
  const startedMs = performance.now();
  for (const steps of togetherOrAlone(selectSteps())) {
    const failure = await runSteps(steps);
    if (failure === undefined) continue;
    const { step, output } = failure;
    console.log(`\n${shorten(output)}\n\n${paint.bold(`${step.name} failed.`)} To fix it: ${paint.cyan(step.fix)}`);
    return 1;
  }
  await printLongRuns();
  console.log(`\nAll checks passed in ${formatDuration(performance.now() - startedMs)}.`);
  return 0;
}

/** The steps in their order, those that may run at the same time in one list. */
function togetherOrAlone(steps: readonly Step[]): readonly (readonly Step[])[] {
  const groups: Step[][] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    if (last === undefined || step.isAlone === true || last[0]?.isAlone === true) groups.push([step]);
    else last.push(step);
  }
  return groups;
}

interface Failure {
  readonly step: Step;
  readonly output: string;
}

/** Answers the first that fails. Steps that run by then are waited for. */
async function runSteps(steps: readonly Step[]): Promise<Failure | undefined> {
  const waiting = [...steps];
  const failures: Failure[] = [];
  const worker = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined && failures.length === 0; step = waiting.shift()) {
      const output = await failingOutput(step);
      if (output !== undefined) failures.push({ step, output });
    }
  };
  await Promise.all(Array.from({ length: STEPS_AT_ONCE }, worker));
  return failures[0];
}

/** Runs one and prints how it ended. Answers what it printed if it failed. */
async function failingOutput({ name, about, work }: Step): Promise<string | undefined> {
  const startedMs = performance.now();
  const { ok, output } = await sayWhileWaiting(name, work);
  const took = formatDuration(performance.now() - startedMs);
  console.log(`${ok ? paint.green("ok  ") : paint.red("FAIL")} ${name.padEnd(10)} ${took.padStart(8)}  ${about}`);
  return ok ? undefined : output;
}

/** No step: they are too long for CI, so that they are as old as their last run. */
async function printLongRuns(): Promise<void> {
  const suites = BATCHES.filter(({ tier }) => tier === "long").flatMap(({ suites }) => suites);
  console.log(`\nSuites too long for CI, as npm run test:long last found them:`);
  for (const line of formatLongRuns(suites, await readLongRuns())) console.log(`  ${line}`);
}

/** One mistake can make hundreds of lines; the first ones name it. */
function shorten(output: string): string {
  const lines = output.trimEnd().split("\n");
  if (lines.length <= OUTPUT_LINES) return lines.join("\n");
  return [...lines.slice(0, OUTPUT_LINES), `… and ${lines.length - OUTPUT_LINES} more lines`].join("\n");
}

function selectSteps(): readonly Step[] {
  const { values } = parseArgs({ options: { only: { type: "string" }, except: { type: "string" } } });
  const names = STEPS.map((step) => step.name);
  const list = (text: string | undefined): readonly string[] => text?.split(",").map((name) => name.trim()) ?? [];
  const only = list(values.only);
  const except = list(values.except);
  const unknown = [...only, ...except].filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new UserError(`no step "${unknown.join('", "')}"; the steps are: ${names.join(", ")}`);
  return STEPS.filter((step) => (only.length === 0 || only.includes(step.name)) && !except.includes(step.name));
}

await failOnUserError("check", main);
