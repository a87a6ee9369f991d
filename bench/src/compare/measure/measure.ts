import { quantile } from "../../lib/statistics.ts";
import type { Peer } from "../peers/peers.ts";
import { type Measurements, type Measure, projected, type Result, type Run } from "../report/results.ts";
import { SCENARIOS } from "../scenarios/scenarios.ts";
import type { Counts, Reaction } from "./observations.ts";
import { Stage } from "./environment.ts";

const MIB = 1024 * 1024;

/** What follows the work belongs to it: events, and giving back the memory that it took. */
const AFTERMATH_MS = 20_000;

export interface MeasureOptions {
  readonly peers: readonly Peer[];
  /** Of one work. */
  readonly patienceMs: number;
  readonly stop: AbortSignal;
}

/** One after the other. A measurement that fails is a result, too: others may not fail. */
export async function* measureAll(runs: readonly Run[], options: MeasureOptions): AsyncGenerator<Result> {
  for (const run of runs) {
    try {
      yield await measure(run, options);
    } catch (error) {
      if (options.stop.aborted) throw error;
      yield { ...run, kind: "failed", reason: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** Measures one scenario with one peer in a separate environment. */
async function measure(run: Run, { peers, patienceMs, stop }: MeasureOptions): Promise<Result> {
  const scenario = SCENARIOS.find(({ name }) => name === run.scenario);
  const peer = peers.find(({ name }) => name === run.peer);
  if (scenario === undefined || peer === undefined) throw new Error(`there is no ${run.scenario} or no ${run.peer}`);
  await using stage = await Stage.start({ signal: stop, patienceMs, flags: scenario.flags ?? [] });
  const done = await scenario.run(stage, peer, run.sizes);
  if (done.share < 1) return projected(run, done);
  const reaction = await stage.reaction();
  await stage.pass(AFTERMATH_MS);
  return { ...run, kind: "measured", measurements: measurements(done.seconds, reaction, await stage.counts()) };
}

function measurements(seconds: number, { healthMs, eventLoopP99Ms }: Reaction, counts: Counts): Measurements {
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
