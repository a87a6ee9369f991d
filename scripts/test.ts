// `npm test`: unit and component tests always; the suites over a real Kubernetes control plane where one can be built.
//   npm test -- --only system      one suite, or several: --only unit,component
//   npm run test:openstack         a suite that runs only where it is named; another is test:kubelet
// In CI (CI=true), or with CLOUDWIRE_NO_SKIP=1, a suite that cannot run is a failure. The last line is for machines:
// "N passed, N failed, N skipped".
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { buildAhead } from "./lib/build-ahead.ts";
import { prepareControlPlane, prepareKubelet, prepareUpstream } from "./lib/control-plane.ts";
import { prepareSidecars, preparePython, runGoTests, runPytest } from "./lib/foreign-suites.ts";
import { prepareBrowser, prepareDeploy, prepareMachine, prepareNetwork, prepareOpenStack } from "./lib/debian-tools.ts";
import { run } from "./lib/run.ts";
import { createPaint, formatDuration, wantsColour } from "./lib/terminal.ts";
import { addTallies, NO_TESTS, readTally, type Tally } from "./lib/tally.ts";
import { findGo } from "./lib/toolchains.ts";
import { failOnUserError, UserError } from "./lib/user-error.ts";

interface Batch {
  /** What can be chosen, and what runs together. */
  readonly suites: readonly string[];
  /** Makes ready what they need; answers why that cannot be had here. */
  readonly prepare: () => Promise<string | undefined>;
  readonly work: (suites: readonly string[]) => Promise<Tally>;
  /** Runs only where it is named: it installs or builds much. */
  readonly isOptional?: boolean;
  /** Its tests wait more than they work, and ask of no time that another's work would stretch: later suites' programs are built meanwhile. */
  readonly leavesTime?: boolean;
}

/** Each file starts a control plane of its own: while one waits, another works. */
const TWO_AT_ONCE = ["--maxWorkers=2"];

/** The same where no test asks how soon something happens. */
const THREE_AT_ONCE = ["--maxWorkers=3"];

const ONE_BY_ONE = ["--no-file-parallelism"];

const BATCHES: readonly Batch[] = [
  { suites: ["unit", "component"], prepare: async () => undefined, work: (suites) => runVitest(suites) },
  { suites: ["selftest"], prepare: async () => undefined, work: (suites) => runVitest(suites) },
  { suites: ["go"], prepare: findGo, work: runGoTests },
  { suites: ["python"], prepare: preparePython, work: runPytest },
  {
    suites: ["integration", "differential", "system"],
    prepare: prepareControlPlane,
    work: (suites) => runVitest(suites, THREE_AT_ONCE),
    leavesTime: true,
  },
  {
    suites: ["system-alone"],
    prepare: prepareControlPlane,
    work: (suites) => runVitest(suites, ONE_BY_ONE),
  },
  {
    suites: ["languages", "system-go", "system-python"],
    prepare: async () => (await prepareControlPlane()) ?? (await prepareSidecars()),
    work: (suites) => runVitest(suites, THREE_AT_ONCE),
  },
  {
    suites: ["network"],
    prepare: async () => (await prepareControlPlane()) ?? (await prepareNetwork()),
    work: (suites) => runVitest(suites, TWO_AT_ONCE),
  },
  {
    suites: ["parity"],
    prepare: async () => (await prepareControlPlane()) ?? (await prepareUpstream()),
    work: (suites) => runVitest(suites, TWO_AT_ONCE),
  },
  {
    suites: ["deploy"],
    prepare: async () => (await prepareControlPlane()) ?? (await prepareDeploy()),
    work: (suites) => runVitest(suites, TWO_AT_ONCE),
  },
  { suites: ["page"], prepare: prepareBrowser, work: (suites) => runVitest(suites, TWO_AT_ONCE) },
  {
    suites: ["openstack"],
    prepare: async () => (await prepareControlPlane()) ?? (await prepareOpenStack()),
    work: (suites) => runVitest(suites, ONE_BY_ONE),
    isOptional: true,
  },
  {
    suites: ["system-pod"],
    prepare: async () => (await prepareControlPlane()) ?? (await prepareDeploy()),
    work: (suites) => runVitest(suites, ONE_BY_ONE),
    isOptional: true,
  },
  {
    suites: ["kubelet"],
    prepare: async () => (await prepareControlPlane()) ?? (await prepareMachine()) ?? (await prepareKubelet()),
    work: (suites) => runVitest(suites, ONE_BY_ONE),
    isOptional: true,
  },
];

const SUITES = BATCHES.flatMap(({ suites }) => suites);
const DEFAULT_SUITES = BATCHES.filter(({ isOptional = false }) => !isOptional).flatMap(({ suites }) => suites);
const paint = createPaint(wantsColour(process.env, process.stdout.isTTY));

async function main(): Promise<number> {
  const only = selected();
  const mayNotSkip = process.env["CI"] === "true" || process.env["CLOUDWIRE_NO_SKIP"] === "1";
  const startedMs = performance.now();
  let total = NO_TESTS;
  for (const batch of BATCHES) {
    const suites = batch.suites.filter((suite) => only.includes(suite));
    if (suites.length === 0) continue;
    const batchStartedMs = performance.now();
    const missing = await batch.prepare();
    if (missing === undefined) {
      const ahead = batch.leavesTime === true ? buildAhead(only) : undefined;
      total = addTallies(total, await batch.work(suites));
      await ahead;
      console.log(`\n${suites.join(", ")} took ${formatDuration(performance.now() - batchStartedMs)}`);
      continue;
    }
    const remark = `${mayNotSkip ? "FAILED, could not run" : "SKIPPED"} ${suites.join(", ")}: ${missing}`;
    console.log(mayNotSkip ? paint.red(`\n${remark}`) : paint.yellow(`\n${remark}`));
    total = addTallies(total, {
      ...NO_TESTS,
      [mayNotSkip ? "failed" : "skipped"]: suites.length,
      remarks: [remark],
    });
  }
  for (const remark of total.remarks) console.log(paint.yellow(remark));
  console.log(
    `\nTests took ${formatDuration(performance.now() - startedMs)}. A suite that could not run counts as one test.`,
  );
  console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return total.failed === 0 ? 0 : 1;
}

async function runVitest(suites: readonly string[], args: readonly string[] = []): Promise<Tally> {
  const folder = await mkdtemp(join(tmpdir(), "cloudwire-test-"));
  try {
    const report = join(folder, "report.json");
    const projects = suites.flatMap((suite) => ["--project", suite]);
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const { code } = await run("vitest", ["run", "--passWithNoTests", ...projects, ...args, ...reporters], {
      output: "show",
    });
    const text = await readFile(report, "utf8").catch(() => undefined);
    return readTally(text, code);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function selected(): readonly string[] {
  const { values } = parseArgs({ options: { only: { type: "string", multiple: true } } });
  const names = (values.only ?? []).flatMap((text) => text.split(","));
  const unknown = names.filter((name) => !SUITES.includes(name));
  if (unknown.length > 0)
    throw new UserError(`no suite "${unknown.join('", "')}"; the suites are: ${SUITES.join(", ")}`);
  return names.length === 0 ? DEFAULT_SUITES : names;
}

await failOnUserError("test", main);
