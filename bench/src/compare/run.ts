import type { Peer } from "./peers.ts";
import type { Result } from "./results.ts";
import type { Scenario, Sizes } from "./scenario.ts";
import { Stage } from "./stage.ts";

const MIB = 1024 * 1024;

/** What follows the work, such as the last events, belongs to it. */
const AFTERMATH_MS = 3000;

/** One scenario, one peer, on a stage of their own. */
export async function measure(
  scenario: Scenario,
  peer: Peer,
  round: number,
  sizes: Sizes,
  stop: AbortSignal,
): Promise<Result> {
  await using stage = await Stage.start(stop);
  const seconds = await scenario.run(stage, peer, sizes);
  await stage.pass(AFTERMATH_MS);
  const counts = await stage.counts();
  return {
    scenario: scenario.name,
    peer: peer.name,
    round,
    figures: {
      seconds,
      cpuSeconds: counts.cpuSeconds,
      controllerRssMiB: counts.controllerRssBytes / MIB,
      rssMiB: counts.rssBytes / MIB,
      peakRssMiB: counts.peakRssBytes / MIB,
      cloudCalls: counts.cloudCalls,
      cloudChanges: counts.cloudChanges,
      apiWrites: counts.apiWrites,
      events: counts.events,
    },
  };
}

/** Each round begins with another one, so that none is always the first on a machine that is still cold. */
export function rotated<Item>(items: readonly Item[], round: number): readonly Item[] {
  const from = round % Math.max(1, items.length);
  return [...items.slice(from), ...items.slice(0, from)];
}
