import type { EventInput } from "../../../src/api/event.ts";
import {
  type ElectionEnd,
  electionMetrics,
  LeaderElector,
  type LeaderElectionTimings,
} from "../../../src/leadership/elector.ts";
import { Metrics } from "../../../src/telemetry/metrics.ts";
import type { LeaseAnnotation } from "../../../src/runtime/lease-annotation.ts";
import type { Clock } from "../../../src/util/clock.ts";
import type { FakeKube } from "./fake-kube.ts";
import { FakeLog } from "../fake-log.ts";

/** Upstream's defaults: component-base/config/v1alpha1/defaults.go v0.36.3. */
export const DEFAULT_TIMINGS: LeaderElectionTimings = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2000,
};

/** A Lease without annotations. */
export const NO_ANNOTATIONS: LeaseAnnotation = { read: () => undefined, write: () => ({}) };

/** What candidates compete for. */
export const LOCK = { namespace: "kube-system", name: "cloud-controller-manager" };

/** One that seeks to lead from its making on. */
export interface Candidate {
  readonly elector: LeaderElector;
  readonly log: FakeLog;
  readonly metrics: Metrics;
  readonly events: EventInput[];
  readonly stop: AbortController;
  /** Ends `lead` as a controller shutting down would. */
  readonly finish: () => void;
  /** When it began to lead, by the monotonic clock. */
  readonly ledAtMs: () => number | undefined;
  readonly lostReason: () => unknown;
  readonly end: Promise<ElectionEnd>;
}

export interface CandidateOptions {
  readonly timings?: LeaderElectionTimings;
  /** What a `deaf` one leads does not end when leadership is lost. */
  readonly hearing?: "good" | "deaf";
  readonly random?: number;
  readonly annotations?: LeaseAnnotation;
}

export function candidate(
  kube: FakeKube,
  clock: Clock,
  identity: string,
  { timings = DEFAULT_TIMINGS, hearing = "good", random = 0, annotations = NO_ANNOTATIONS }: CandidateOptions = {},
): Candidate {
  const log = new FakeLog();
  const events: EventInput[] = [];
  const metrics = new Metrics();
  const elector = new LeaderElector({
    client: kube,
    timings,
    lock: LOCK,
    identity,
    clock,
    random: () => random,
    log,
    events: { record: (event) => events.push(event) },
    metrics: electionMetrics(metrics)(LOCK.name),
    annotations,
  });
  const stop = new AbortController();
  const finished = Promise.withResolvers<void>();
  let reason: unknown;
  let ledAtMs: number | undefined;
  const end = elector.run(stop.signal, async (lost) => {
    ledAtMs = clock.monotonicMs();
    const gone = new Promise<void>((resolve) => lost.addEventListener("abort", () => resolve()));
    await Promise.race([...(hearing === "deaf" ? [] : [gone]), finished.promise]);
    reason = lost.aborted ? lost.reason : undefined;
  });
  const seen = { ledAtMs: () => ledAtMs, lostReason: () => reason };
  return { elector, log, metrics, events, stop, finish: finished.resolve, ...seen, end };
}
