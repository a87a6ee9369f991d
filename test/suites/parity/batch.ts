import type { Observation } from "./observe.ts";

/** A scenario on one side. */
export interface Play {
  readonly name: string;
  readonly arrange: () => Promise<void>;
  readonly away: () => Promise<void>;
  /** Ends when the controllers are idle. */
  readonly run: () => Promise<void>;
  readonly observe: () => Promise<Observation>;
  readonly clear: () => Promise<void>;
}

/**
 * Runs plays concurrently. If a step of a play throws, the observation of this play has the failure, and the others continue.
 * @param restart restarts the programs and runs `away` in between
 */
export async function runBatch(
  plays: readonly Play[],
  restart?: (away: () => Promise<void>) => Promise<void>,
): Promise<ReadonlyMap<string, Observation>> {
  const failures = new Map<Play, readonly string[]>();
  const failed = (play: Play, step: string, error: unknown): void => {
    const text = `${step}: ${error instanceof Error ? error.message : String(error)}`;
    failures.set(play, [...(failures.get(play) ?? []), text]);
  };
  const each = async (step: "arrange" | "away" | "clear"): Promise<void> => {
    const cast = step === "clear" ? plays : plays.filter((play) => !failures.has(play));
    await Promise.all(cast.map((play) => play[step]().catch((error: unknown) => failed(play, step, error))));
  };
  await each("arrange");
  await restart?.(() => each("away"));
  const observations = new Map<Play, Observation>();
  await Promise.all(
    plays.map(async (play) => {
      if (failures.has(play)) return;
      try {
        await play.run();
        observations.set(play, await play.observe());
      } catch (error) {
        failed(play, "run", error);
      }
    }),
  );
  await each("clear");
  return new Map(
    plays.map((play) => [play.name, { ...NOTHING, ...observations.get(play), failures: failures.get(play) ?? [] }]),
  );
}

const NOTHING: Observation = { facts: new Map(), writes: 0, cloudCalls: 0, failures: [] };
