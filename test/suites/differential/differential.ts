import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { controlPlaneAvailability, readVersion } from "@cloudwire/control-plane";
import { type Pair, type PairOptions, startPair } from "./clusters.ts";
import { normalize } from "./normalize.ts";
import { differsOn } from "./older-minors.ts";
import { createRecorder } from "./recorder.ts";
import type { Scenario } from "./scenario.ts";

/** Why the tests of that title cannot run here, undefined when they can; where nothing may be skipped, they run and fail. */
export async function skipReason(title: string): Promise<string | undefined> {
  const availability = await controlPlaneAvailability();
  if (availability.kind !== "missing" || process.env["CI"] === "true") return undefined;
  console.warn(`skipped: ${title}: ${availability.reason}`);
  return availability.reason;
}

/**
 * Registers one test a scenario: the same calls to both servers, the same answers from both. On an older minor of Kubernetes, the scenarios
 * of older-minors.ts differ.
 */
export async function compareAll(
  title: string,
  scenarios: readonly Scenario[],
  options: PairOptions = {},
): Promise<void> {
  const reason = await skipReason(title);
  const { minor } = await readVersion();
  describe.skipIf(reason !== undefined)(title, () => {
    let pair: Pair | undefined;
    beforeAll(async () => {
      pair = await startPair(options);
    });
    afterAll(async () => {
      await pair?.stop();
    });
    const results = async (run: Scenario["run"]): Promise<readonly [unknown, unknown]> => {
      if (pair === undefined) throw new Error("the clusters did not start");
      const real = createRecorder(pair.real);
      const dev = createRecorder(pair.dev);
      await Promise.all([run(real), run(dev)]);
      return [normalize(dev.exchanges), normalize(real.exchanges)];
    };
    test.each(scenarios.filter(({ name }) => !differsOn(minor, name)))("$name", async ({ run }) => {
      const [dev, real] = await results(run);
      expect(dev).toEqual(real);
    });
    test.each(scenarios.filter(({ name }) => differsOn(minor, name)))(
      "$name: not as in newer minors",
      async ({ run }) => {
        const [dev, real] = await results(run);
        expect(dev).not.toEqual(real);
      },
    );
  });
}
