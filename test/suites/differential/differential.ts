import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { controlPlaneAvailability } from "@cloudwire/control-plane";
import { type Pair, type PairOptions, startPair } from "./clusters.ts";
import { normalize } from "./normalize.ts";
import { createRecorder } from "./recorder.ts";
import type { Scenario } from "./scenario.ts";

/** Why the tests of that title cannot run here, undefined when they can; where nothing may be skipped, they run and fail. */
export async function skipReason(title: string): Promise<string | undefined> {
  const availability = await controlPlaneAvailability();
  if (availability.kind !== "missing" || process.env["CI"] === "true") return undefined;
  console.warn(`skipped: ${title}: ${availability.reason}`);
  return availability.reason;
}

/** Registers one test a scenario: the same calls to both servers, the same answers from both. */
export async function compareAll(
  title: string,
  scenarios: readonly Scenario[],
  options: PairOptions = {},
): Promise<void> {
  const reason = await skipReason(title);
  describe.skipIf(reason !== undefined)(title, () => {
    let pair: Pair | undefined;
    beforeAll(async () => {
      pair = await startPair(options);
    });
    afterAll(async () => {
      await pair?.stop();
    });
    test.each(scenarios)("$name", async ({ run }) => {
      if (pair === undefined) throw new Error("the clusters did not start");
      const real = createRecorder(pair.real);
      const dev = createRecorder(pair.dev);
      await Promise.all([run(real), run(dev)]);
      expect(normalize(dev.exchanges)).toEqual(normalize(real.exchanges));
    });
  });
}
