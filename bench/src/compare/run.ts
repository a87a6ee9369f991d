import { quantile } from "../lib/statistics.ts";
import type { Peer } from "./peers.ts";
import { type Figures, type Measure, projected, type Result, type Run } from "./results.ts";
import type { Scenario } from "./scenario.ts";
import { type Counts, type Reaction, Stage } from "./stage.ts";

const MIB = 1024 * 1024;

/** What follows the work, such as the last events, belongs to it. */
const AFTERMATH_MS = 3000;

/** One scenario, one peer, on a stage of their own. A measurement that fails is a result, too: others may not. */
export async function measure(
  scenario: Scenario,
  peer: Peer,
  run: Run,
  patienceMs: number,
  stop: AbortSignal,
): Promise<Result> {
  try {
    return await measured(scenario, peer, run, patienceMs, stop);
  } catch (error) {
    if (stop.aborted) throw error;
    return { ...run, kind: "failed", reason: error instanceof Error ? error.message : String(error) };
  }
}

async function measured(
  scenario: Scenario,
  peer: Peer,
  run: Run,
  patienceMs: number,
  signal: AbortSignal,
): Promise<Result> {
  await using stage = await Stage.start({ signal, patienceMs, flags: scenario.flags ?? [] });
  const done = await scenario.run(stage, peer, run.sizes);
  if (done.share < 1) return projected(run, done);
  const reaction = await stage.reaction();
  await stage.pass(AFTERMATH_MS);
  return { ...run, kind: "measured", figures: figures(done.seconds, reaction, await stage.counts()) };
}

function figures(seconds: number, { healthMs, eventLoopP99Ms }: Reaction, counts: Counts): Figures {
  const mib = (bytes: number | undefined): number | undefined => (bytes === undefined ? undefined : bytes / MIB);
  const all: Readonly<Record<Measure, number | undefined>> = {
    seconds,
    cpuSeconds: counts.cpuSeconds,
    controllerRssMiB: mib(counts.controllerRssBytes),
    rssMiB: mib(counts.rssBytes),
    pssMiB: mib(counts.pssBytes),
    peakRssMiB: mib(counts.peakRssBytes),
    cloudCalls: counts.cloudCalls,
    cloudChanges: counts.cloudChanges,
    apiWrites: counts.apiWrites,
    events: counts.events,
    eventLoopP99Ms,
    healthP99Ms: healthMs.length === 0 ? undefined : quantile(healthMs, 0.99),
    healthWorstMs: healthMs.length === 0 ? undefined : Math.max(...healthMs),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** Each round begins with another one, so that none is always the first on a machine that is still cold. */
export function rotated<Item>(items: readonly Item[], round: number): readonly Item[] {
  const from = round % Math.max(1, items.length);
  return [...items.slice(from), ...items.slice(0, from)];
}
