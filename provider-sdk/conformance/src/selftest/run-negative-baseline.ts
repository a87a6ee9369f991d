import { NotReadyError } from "../endpoint/reach.ts";
import type { Floor, FloorEnd } from "./negative-baselines.ts";
import { runBehind, type SelftestTarget } from "./run-mutant.ts";

/** What came of a floor provider. */
export interface FloorOutcome {
  readonly name: string;
  readonly fault: string;
  /** What the kit did not do that it has to; nothing: all is well. */
  readonly problems: readonly string[];
  readonly elapsedMs: number;
}

/** Checks that wait on such a provider need not wait long: that they fail is what is wanted. */
const floorTimeFactor = 0.5;
const floorPatience = 0.02;

/** A start is waited for as long as ever. */
const impatient = ({ slowFactor, startTimeoutMs }: SelftestTarget) => ({
  slowFactor: slowFactor * floorPatience,
  startTimeoutMs: startTimeoutMs / floorPatience,
  timeFactor: floorTimeFactor / floorPatience,
});

/** Runs the kit on a floor provider, and tells what it has to do and does not. */
export const runFloor = async (floor: Floor, target: SelftestTarget): Promise<FloorOutcome> => {
  const end = await endOn(floor, target);
  const { name, fault } = floor;
  return { name, fault, problems: floor.problems(end), elapsedMs: end.elapsedMs };
};

const endOn = async (floor: Floor, target: SelftestTarget): Promise<FloorEnd> => {
  const startedMs = performance.now();
  const elapsed = (): number => performance.now() - startedMs;
  try {
    const report = await runBehind({ intercept: floor.intercept() }, target, {
      timeFactor: floorTimeFactor,
      ...(floor.isImpatient === true && impatient(target)),
      ...floor.options,
    });
    return { kind: "report", report, elapsedMs: elapsed() };
  } catch (error) {
    if (!(error instanceof NotReadyError)) throw error;
    return { kind: "not ready", message: error.message, elapsedMs: elapsed() };
  }
};

/** A line for a floor that held, and what is wrong with others. */
export const floorLines = ({ name, fault, problems }: FloorOutcome): string =>
  [
    `${(problems.length === 0 ? "HELD" : "GAVE WAY").padEnd(9)}  ${name}  ${fault}`,
    ...problems.map((problem) => `  ${problem}`),
    "",
  ].join("\n");
