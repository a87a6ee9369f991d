import type { EventInput } from "../../src/api/event.ts";
import { DEFAULT_TIMINGS, type ElectionEnd, electionMetrics, LeaderElector } from "../../src/kube/leader-election.ts";
import { Metrics } from "../../src/telemetry/metrics.ts";
import type { Clock } from "../../src/util/clock.ts";
import type { FakeKube } from "./fake-kube.ts";
import { FakeLog } from "./fake-log.ts";

/** What candidates compete for. */
export const LOCK = { namespace: "kube-system", name: "cloud-controller-manager" };

/** One that seeks to lead from its making on. */
export interface Candidate {
  readonly elector: LeaderElector;
  readonly metrics: Metrics;
  readonly events: EventInput[];
  readonly stop: AbortController;
  /** Ends `lead` as a controller shutting down would. */
  readonly finish: () => void;
  readonly lostReason: () => unknown;
  readonly end: Promise<ElectionEnd>;
}

/** What a `deaf` one leads does not end when leadership is lost. */
export function candidate(
  kube: FakeKube,
  clock: Clock,
  identity: string,
  timings = DEFAULT_TIMINGS,
  hearing: "good" | "deaf" = "good",
): Candidate {
  const events: EventInput[] = [];
  const metrics = new Metrics();
  const elector = new LeaderElector({
    client: kube,
    timings,
    lock: LOCK,
    identity,
    clock,
    random: () => 0,
    log: new FakeLog(),
    events: { record: (event) => events.push(event) },
    metrics: electionMetrics(metrics)(LOCK.name),
  });
  const stop = new AbortController();
  const finished = Promise.withResolvers<void>();
  let reason: unknown;
  const end = elector.run(stop.signal, async (lost) => {
    const gone = new Promise<void>((resolve) => lost.addEventListener("abort", () => resolve()));
    await Promise.race([...(hearing === "deaf" ? [] : [gone]), finished.promise]);
    reason = lost.aborted ? lost.reason : undefined;
  });
  return { elector, metrics, events, stop, finish: finished.resolve, lostReason: () => reason, end };
}
