import { levels } from "./check.ts";
import type { PlannedCheck } from "./plan.ts";

/** What one check creates in the cloud. */
export interface Made {
  readonly loadBalancers: number;
  readonly routes: number;
  /** Of both, there at the same time. */
  readonly atOnce: number;
}

/** What a run would do, in numbers. */
export interface PlanSummary {
  readonly all: number;
  /** Ids of the checks that run. */
  readonly runs: readonly string[];
  readonly makes: Made;
  /** Ids of checks that may create an unknown number of resources. */
  readonly unknown: readonly string[];
  /** Ids of checks that start the provider once more. */
  readonly starts: readonly string[];
  /** Names of the vendor's own actions that are used. */
  readonly hooks: readonly string[];
}

/** Sums up a plan. `made` has what checks create; one of a level that changes things and that is not in it is unknown. */
export const summarize = (planned: readonly PlannedCheck[], made: Readonly<Record<string, Made>>): PlanSummary => {
  const running = planned.filter(({ skip }) => skip === undefined).map(({ check }) => check);
  const known = running.flatMap(({ id }) => made[id] ?? []);
  // The exclusive checks, which make things, run one after the other.
  return {
    all: planned.length,
    runs: running.map(({ id }) => id),
    makes: {
      loadBalancers: known.reduce((sum, { loadBalancers }) => sum + loadBalancers, 0),
      routes: known.reduce((sum, { routes }) => sum + routes, 0),
      atOnce: Math.max(0, ...known.map(({ atOnce }) => atOnce)),
    },
    unknown: running.filter(({ id, level }) => made[id] === undefined && mayMake(level)).map(({ id }) => id),
    starts: running.filter(({ starts }) => starts === true).map(({ id }) => id),
    hooks: [...new Set(running.flatMap(({ hooks = [] }) => hooks))],
  };
};

const mayMake = (level: PlannedCheck["check"]["level"]): boolean => levels.indexOf(level) >= levels.indexOf("M");

/** Whether the user has to confirm first: resources are created in a cloud that is not known to be for tests. */
export const needsConsent = ({ makes, unknown }: PlanSummary, testCloud: string | undefined): boolean =>
  testCloud === undefined && makes.loadBalancers + makes.routes + unknown.length > 0;
