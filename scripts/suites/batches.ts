import { prepareBrowser, prepareDeploy, prepareMachine, prepareNetwork, prepareOpenStack } from "./debian-tools.ts";
import { prepareControlPlane, prepareKubelet, prepareUpstream } from "./control-plane.ts";
import { preparePython, prepareSidecars, runGoTests, runPytest } from "./foreign-suites.ts";
import type { Tally } from "./test-summary.ts";
import { findGo } from "./toolchains.ts";
import { MINORS_IN_CI, MINORS_ON_REQUEST, suiteOn } from "../lib/kubernetes-minors.ts";
import { sayWhileWaiting } from "../lib/waiting.ts";
import { runProgram, runVitest } from "./run-suites.ts";

/**
 * When a suite runs without being named: `quick` always, `full` where every suite is asked for (CI, `npm run test:all`), `long` in
 * `npm run test:long` only, since it takes or installs too much for CI.
 */
export type Tier = "quick" | "full" | "long";

export interface Batch {
  /** What can be chosen, and what runs together. */
  readonly suites: readonly string[];
  readonly tier: Tier;
  /** Prepares what they need. Returns why that is impossible here. */
  readonly prepare: () => Promise<string | undefined>;
  readonly work: (suites: readonly string[]) => Promise<Tally>;
  /** Programs of the machine whose versions belong to a recorded result. */
  readonly programs?: readonly string[];
  /** Its tests wait more than they work, and assert no time that another's work would stretch: later suites' programs are built meanwhile. */
  readonly leavesTime?: boolean;
  /** Neither its tests nor those of the next batch assert a time that another's work would stretch: both run at once. */
  readonly besideNext?: boolean;
}

/** The batches with any of these suites, in their order; those of one stage run at the same time. */
export function stagesOf(batches: readonly Batch[], suites: readonly string[]): readonly (readonly Batch[])[] {
  const stages: Batch[][] = [];
  let isStarted = false;
  for (const batch of batches.filter((candidate) => candidate.suites.some((suite) => suites.includes(suite)))) {
    const stage = isStarted ? stages.at(-1) : undefined;
    if (stage === undefined) stages.push([batch]);
    else stage.push(batch);
    isStarted = batch.besideNext === true;
  }
  return stages;
}

/** Each file starts its own control plane: while one waits, another works. */
const TWO_AT_ONCE = ["--maxWorkers=2"];

/** The same where no test asserts how soon something happens. */
const THREE_AT_ONCE = ["--maxWorkers=3"];

/** The same where most of a file's time is waiting. */
const FOUR_AT_ONCE = ["--maxWorkers=4"];

const ONE_BY_ONE = ["--no-file-parallelism"];

const nothingNeeded = async (): Promise<undefined> => undefined;

export const BATCHES: readonly Batch[] = [
  {
    suites: ["unit", "component", "smoke"],
    tier: "quick",
    prepare: nothingNeeded,
    work: (suites) => runVitest(suites, THREE_AT_ONCE),
  },
  {
    suites: ["component-long"],
    tier: "full",
    prepare: nothingNeeded,
    work: (suites) => runVitest(suites, TWO_AT_ONCE),
    besideNext: true,
  },
  {
    suites: ["hostile"],
    tier: "full",
    prepare: nothingNeeded,
    work: (suites) => runVitest(suites),
    besideNext: true,
  },
  {
    suites: ["selftest"],
    tier: "full",
    prepare: nothingNeeded,
    work: (suites) => runVitest(suites),
    besideNext: true,
  },
  {
    suites: ["go"],
    tier: "full",
    prepare: findGo,
    work: () => sayWhileWaiting("go", runGoTests),
    besideNext: true,
  },
  { suites: ["python"], tier: "full", prepare: preparePython, work: () => sayWhileWaiting("python", runPytest) },
  {
    suites: ["integration", "differential", "system"],
    tier: "full",
    prepare: () => prepareControlPlane(),
    work: (suites) => runVitest(suites, FOUR_AT_ONCE),
    leavesTime: true,
  },
  {
    suites: ["languages", "system-go", "system-python"],
    tier: "full",
    prepare: async () => (await prepareControlPlane()) ?? (await prepareSidecars()),
    work: (suites) => runVitest(suites, FOUR_AT_ONCE),
  },
  {
    suites: ["system-alone"],
    tier: "full",
    prepare: () => prepareControlPlane(),
    work: (suites) => runVitest(suites, ONE_BY_ONE),
  },
  {
    suites: MINORS_IN_CI.map(suiteOn),
    tier: "full",
    prepare: () => prepareControlPlane(MINORS_IN_CI),
    work: (suites) => runVitest(suites, THREE_AT_ONCE),
  },
  {
    suites: ["network"],
    tier: "full",
    prepare: async () => (await prepareControlPlane()) ?? (await prepareNetwork()),
    work: (suites) => runVitest(suites, TWO_AT_ONCE),
    besideNext: true,
  },
  {
    suites: ["parity"],
    tier: "full",
    prepare: async () => (await prepareControlPlane()) ?? (await prepareUpstream()),
    work: (suites) => runVitest(suites, THREE_AT_ONCE),
  },
  {
    suites: ["deploy"],
    tier: "full",
    prepare: async () => (await prepareControlPlane()) ?? (await prepareDeploy()),
    work: (suites) => runVitest(suites, TWO_AT_ONCE),
  },
  { suites: ["page"], tier: "full", prepare: prepareBrowser, work: (suites) => runVitest(suites, TWO_AT_ONCE) },
  {
    suites: ["openstack"],
    tier: "long",
    prepare: async () => (await prepareControlPlane()) ?? (await prepareOpenStack()),
    work: (suites) => runVitest(suites, ONE_BY_ONE),
  },
  {
    suites: MINORS_ON_REQUEST.map(suiteOn),
    tier: "long",
    prepare: () => prepareControlPlane(MINORS_ON_REQUEST),
    work: (suites) => runVitest(suites, THREE_AT_ONCE),
  },
  {
    suites: ["upgrade"],
    tier: "long",
    prepare: () => prepareControlPlane(),
    work: (suites) => runVitest(suites, ONE_BY_ONE),
  },
  {
    suites: ["system-pod"],
    tier: "long",
    programs: ["podman", "runc"],
    prepare: async () => (await prepareControlPlane()) ?? (await prepareDeploy()),
    work: (suites) => runVitest(suites, ONE_BY_ONE),
  },
  {
    suites: ["kubelet"],
    tier: "long",
    programs: ["containerd", "runc"],
    prepare: async () => (await prepareControlPlane()) ?? (await prepareMachine()) ?? (await prepareKubelet()),
    work: (suites) => runVitest(suites, ONE_BY_ONE),
  },
  {
    suites: ["mutation"],
    tier: "long",
    prepare: nothingNeeded,
    work: () => runProgram("mutation", "scripts/suites/mutation/main.ts"),
  },
  {
    suites: ["soak"],
    tier: "long",
    prepare: () => prepareControlPlane(),
    work: () => runProgram("soak", "bench/src/soak/main.ts"),
  },
];
