// `npm run test:mutation`: puts one fault after the other into the rules (plan.ts, plan/*.ts, predicates.ts, the transitions of a record of every
// controller) and sees whether a unit test notices.
//   npm run test:mutation -- controller/src/controllers/route     only that directory's
//   npm run test:mutation -- controller/src/util/cidr.ts          any other file
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { isInstalled, markInstalled } from "../../lib/installed.mjs";
import { ROOT, run } from "../../lib/run.ts";
import { createPaint, formatDuration, wantsColor } from "../../lib/terminal.ts";
import { treeFiles } from "../../lib/tree.ts";
import { failOnUserError, UserError } from "../../lib/user-error.ts";
import { uncompilable } from "./compile.ts";
import {
  evaluate,
  type Mutant,
  mutantsOf,
  percent,
  type Score,
  type StrykerReport,
  type MutationResult,
} from "./report.ts";
import { REVIEWED } from "./reviewed.ts";

const HERE = "scripts/suites/mutation";
const MIN_PERCENT = 85;
const RULES = ["plan.ts", "plan/**/*.ts", "predicates.ts", "record/record.ts", "record/transition.ts"].map(
  (path) => `:(glob)controller/src/controllers/*/${path}`,
);

/** Below everything else on the machine: this takes minutes. */
const NICENESS = 10;

const paint = createPaint(wantsColor(process.env, process.stdout.isTTY));

async function main(): Promise<number> {
  const { positionals } = parseArgs({ allowPositionals: true });
  const files = await selected(positionals);
  setPriority(NICENESS);
  await installStryker();
  const startedMs = performance.now();
  const mutants = mutantsOf(await runStryker(files));
  const impossible = await uncompilable(mutants.filter(({ noticed }) => !noticed));
  const result = evaluate(
    mutants.filter((mutant) => !impossible.has(mutant)),
    REVIEWED,
    MIN_PERCENT,
  );
  print(result);
  console.log(`${result.total.all} faults took ${formatDuration(performance.now() - startedMs)}`);
  return result.passed ? 0 : 1;
}

async function selected(paths: readonly string[]): Promise<readonly string[]> {
  const rules = await sources(RULES);
  if (paths.length === 0) return rules;
  const chosen = await Promise.all(
    paths.map(async (path) => {
      const found = path.endsWith(".ts") ? await sources([path]) : rules.filter((rule) => rule.startsWith(path));
      if (found.length === 0)
        throw new UserError(`${path}: no source file, and no directory with a plan or predicates`);
      return found;
    }),
  );
  return [...new Set(chosen.flat())];
}

async function sources(patterns: readonly string[]): Promise<readonly string[]> {
  return (await treeFiles(...patterns)).filter((path) => !path.endsWith(".test.ts"));
}

/** Not among the checkout's own packages: it brings 150 more, and no one needs it to build, run or test. */
async function installStryker(): Promise<void> {
  const directory = join(ROOT, HERE);
  if (isInstalled(directory)) return;
  console.log("Installing Stryker …");
  const { code, output } = await run("npm", ["ci", "--ignore-scripts"], { cwd: HERE, output: "keep" });
  if (code !== 0) throw new UserError(`npm ci in ${HERE} failed (exit ${code}):\n${output}`);
  markInstalled(directory);
}

async function runStryker(files: readonly string[]): Promise<StrykerReport> {
  const directory = await mkdtemp(join(tmpdir(), "cloudwire-mutation-"));
  try {
    const [config, report] = [join(directory, "stryker.config.json"), join(directory, "report.json")];
    await writeFile(config, JSON.stringify(strykerConfig(files, join(directory, "sandboxes"), report)));
    const stryker = join(ROOT, HERE, "node_modules/.bin/stryker");
    const env = { CLOUDWIRE_MUTATION_DIRECTORIES: [...new Set(files.map(testDirectory))].join() };
    const signal = interrupted();
    const { code } = await run(stryker, ["run", config], { output: "show", env, signal }).catch((error: unknown) => {
      throw signal.aborted ? new UserError("interrupted") : error;
    });
    const text = await readFile(report, "utf8").catch(() => undefined);
    if (text === undefined) throw new UserError(`Stryker ended without a report (exit ${code}); it said why above`);
    return JSON.parse(text);
  } finally {
    // Stryker, once interrupted, may still be removing its part.
    await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  }
}

/** Aborts when this is to end: Stryker ends its workers, and what it left behind is removed. */
function interrupted(): AbortSignal {
  const interrupt = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => interrupt.abort());
  return interrupt.signal;
}

/** Whose tests have to notice: those of the same controller, or of the same directory of the controller's source. */
function testDirectory(path: string): string {
  const [, directory] = /^(controller\/src\/(?:controllers\/)?[^/]+)\//.exec(path) ?? [];
  if (directory === undefined) throw new UserError(`${path}: only files below controller/src are tried`);
  return directory;
}

function strykerConfig(files: readonly string[], tempDirName: string, report: string): object {
  return {
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: `${HERE}/vitest.config.ts`, related: true },
    mutate: files,
    ignorePatterns: ["**/dist", "**/bin", "**/.venv"],
    coverageAnalysis: "perTest",
    concurrency: 2,
    // Stryker rewrites tsconfig files with a compiler API that TypeScript 7 no longer has; vitest does not need them.
    tsconfigFile: "none.json",
    tempDirName,
    reporters: [process.stdout.isTTY ? "progress" : "progress-append-only", "json"],
    jsonReporter: { fileName: report },
  };
}

function print({ byFile, total, unseen, stale }: MutationResult): void {
  for (const [path, score] of byFile) console.log(`${scoreText(score)}  ${path}`);
  console.log(paint.bold(`${scoreText(total)}  in all; ${MIN_PERCENT} % are wanted`));
  for (const mutant of unseen) console.log(survivorText(mutant));
  for (const { path, before, after } of stale) {
    console.log(`${path}: in ${HERE}/reviewed.ts, but no such fault survives now; remove the entry`);
    console.log(`  ${before}\n  ${after}`);
  }
  if (unseen.length > 0)
    console.log(
      `${unseen.length} survivors: test them, delete code that nothing needs, or add them to ${HERE}/reviewed.ts`,
    );
}

function scoreText(score: Score): string {
  return `${percent(score).toFixed(1).padStart(5)} % (${score.noticed} of ${score.all})`;
}

function survivorText({ path, line, before, after }: Mutant): string {
  return `${path}:${line}\n${paint.red(`  - ${before}`)}\n${paint.green(`  + ${after}`)}`;
}

await failOnUserError("test:mutation", main);
