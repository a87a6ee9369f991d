import type { ObjectReference } from "../api/meta.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { childSignal, deadlineSignal, raceAbort, sleep } from "../util/abort.ts";
import type { Random } from "../util/clock.ts";
import { messageOf } from "../util/errors.ts";
import type { ListWatcher } from "../kube/client.ts";
import type { EventRecorder } from "../kube/events/broadcaster.ts";
import { leaderElection } from "./events.ts";
import { LeaseLock, type LeaseLockDependencies } from "./lease-lock.ts";
import { LeaseStandby } from "./standby.ts";

/** Upstream's defaults: component-base/config/v1alpha1/defaults.go v0.36.3. */
export interface LeaderElectionTimings {
  /** How long other processes wait after the last renewal they saw. @default 15_000 */
  readonly leaseDurationMs: number;
  /** A leader that cannot renew for this long stops leading, at the latest when its Lease ends. Less than the lease duration. @default 10_000 */
  readonly renewDeadlineMs: number;
  /** Between attempts to acquire or renew. @default 2_000 */
  readonly retryPeriodMs: number;
}

export interface LeaderElectionDependencies
  extends Omit<LeaseLockDependencies, "timeoutMs" | "leaseDurationMs" | "onSlowPath"> {
  readonly client: LeaseLockDependencies["client"] & Pick<ListWatcher, "watch">;
  readonly timings: LeaderElectionTimings;
  readonly random: Random;
  readonly events: EventRecorder;
  readonly metrics: ElectionMetrics;
}

class LeadershipLostError extends Error {
  override readonly name = "LeadershipLostError";
  readonly code = "LEADERSHIP_LOST";
}

/** `stopped`: the signal aborted and the Lease is released. `lost`: another process may lead; this one must end. */
export type ElectionEnd = "stopped" | "lost";

/** A leader is unhealthy once its lease is expired for longer than this (cloud-provider/app/controllermanager.go v0.36.3). */
const UNHEALTHY_AFTER_MS = 20_000;

/** Part of the Lease at whose end no process leads: clocks differ, timers are late, and work takes a moment to stop. */
const MARGIN = 0.05;

/** How long an early renewal waits for more changes to write. */
const GATHER_MS = 200;

/** Leader election by client-go's rules. A Lease is expired once it is unchanged for its duration by the local clock; clocks need not agree. */
export class LeaderElector {
  readonly #deps: LeaderElectionDependencies;
  readonly #lease: LeaseLock;
  #leading = false;
  #renewedMs = 0;
  /** A change waits for the next renewal. */
  #isAwaited = false;
  #wake: () => void = () => undefined;

  constructor(dependencies: LeaderElectionDependencies) {
    const { timings, metrics, annotations } = dependencies;
    this.#deps = dependencies;
    this.#lease = new LeaseLock({
      ...dependencies,
      // As in client-go: two attempts fit before leading ends.
      timeoutMs: timings.renewDeadlineMs / 2,
      leaseDurationMs: timings.leaseDurationMs,
      onSlowPath: () => metrics.slowPath(),
    });
    annotations.keptOn?.(() => this.renewSoon());
    metrics.leading(false);
  }

  get leading(): boolean {
    return this.#leading;
  }

  get identity(): string {
    return this.#deps.identity;
  }

  /** Identity as last seen; "": none. */
  get leader(): string {
    return this.#lease.holderIdentity;
  }

  get reference(): ObjectReference {
    return this.#lease.reference();
  }

  /** Why this process should be restarted: it leads, but has not renewed for far too long. undefined: healthy. */
  unhealthy(): string | undefined {
    const { clock, timings, lock } = this.#deps;
    if (!this.#leading) return undefined;
    const ageMs = clock.monotonicMs() - this.#renewedMs;
    if (ageMs <= timings.leaseDurationMs + UNHEALTHY_AFTER_MS) return undefined;
    return `lease ${lock.namespace}/${lock.name} was last renewed ${Math.round(ageMs / 1000)} s ago`;
  }

  /** Renews early because annotations have changed that a caller waits for. */
  renewSoon(): void {
    this.#isAwaited = true;
    this.#wake();
  }

  /**
   * Waits for leadership, then runs `lead` while renewing. The signal of `lead` aborts when leadership is lost. On shutdown, the Lease is
   * renewed until `lead` ends, then released. An error of `lead` is rethrown.
   */
  async run(stop: AbortSignal, lead: (lost: AbortSignal) => Promise<void>): Promise<ElectionEnd> {
    if (!(await this.#acquire(stop))) return "stopped";
    this.#began();
    const term = new AbortController();
    const renewal = new AbortController();
    const renewing = this.#renewUntilLost(renewal.signal, term);
    try {
      await lead(term.signal);
    } finally {
      renewal.abort(new Error("leading ended"));
      await renewing;
      await this.#ended(term.signal.aborted);
    }
    return term.signal.aborted ? "lost" : "stopped";
  }

  async #acquire(stop: AbortSignal): Promise<boolean> {
    const { log, timings, lock } = this.#deps;
    log.info("Waiting for leadership", { lease: `${lock.namespace}/${lock.name}` });
    using standby = new LeaseStandby({ ...this.#deps, ...timings, lease: this.#lease }, stop);
    while (!stop.aborted) {
      if (await this.#try(stop)) return true;
      await standby.untilNextTry();
    }
    await this.#release();
    return false;
  }

  #began(): void {
    const { clock, log, metrics, identity } = this.#deps;
    this.#leading = true;
    this.#renewedMs = clock.monotonicMs();
    metrics.leading(true);
    log.info("Became leader", { identity });
    this.#record("became leader");
  }

  async #renewUntilLost(signal: AbortSignal, term: AbortController): Promise<void> {
    let reason: string | undefined;
    while (!signal.aborted && reason === undefined) {
      await this.#untilRenewal(signal);
      reason = await this.#renew(signal);
    }
    if (reason !== undefined) term.abort(new LeadershipLostError(reason));
  }

  async #untilRenewal(signal: AbortSignal): Promise<void> {
    const { clock, timings } = this.#deps;
    using nap = childSignal(signal);
    this.#wake = () => nap.abort(new Error("a renewal is awaited"));
    if (!this.#isAwaited) await sleep(timings.retryPeriodMs, nap.signal, clock).catch(() => undefined);
    if (this.#isAwaited) await sleep(Math.min(GATHER_MS, timings.retryPeriodMs), signal, clock).catch(() => undefined);
    this.#isAwaited = false;
  }

  get #leftMs(): number {
    const { clock, timings } = this.#deps;
    return this.#lease.heldUntilMs - MARGIN * timings.leaseDurationMs - clock.monotonicMs();
  }

  /** Retries until the Lease is renewed or `signal` aborts; returns why it is lost. */
  async #renew(signal: AbortSignal): Promise<string | undefined> {
    const { clock, timings, identity } = this.#deps;
    const deadlineMs = Math.min(timings.renewDeadlineMs, this.#leftMs);
    // Also ends the request in flight: leading must end before the Lease does.
    using cycle = deadlineSignal(signal, deadlineMs, "renewing the lease", clock);
    // The clock is checked as well: after a pause of the process no timer has fired yet.
    while (!cycle.signal.aborted && this.#leftMs > 0) {
      if (await this.#try(cycle.signal)) {
        this.#renewedMs = clock.monotonicMs();
        return undefined;
      }
      const { holderIdentity } = this.#lease;
      if (holderIdentity !== identity && holderIdentity !== "") return `the lease was taken by ${holderIdentity}`;
      await sleep(timings.retryPeriodMs, cycle.signal, clock).catch(() => undefined);
    }
    const agoMs = Math.round(clock.monotonicMs() - this.#renewedMs);
    return signal.aborted ? undefined : `the lease could not be renewed for ${agoMs} ms`;
  }

  /** True: the Lease is held, and the response did not come after its end. Ends with the signal even if the client ignores it. */
  async #try(signal: AbortSignal): Promise<boolean> {
    const isAnswered = await raceAbort(this.#lease.tryAcquireOrRenew(signal), signal).catch(() => false);
    return isAnswered && this.#leftMs > 0;
  }

  async #release(): Promise<void> {
    const { clock, timings, log } = this.#deps;
    using limit = deadlineSignal(new AbortController().signal, timings.renewDeadlineMs, "releasing the lease", clock);
    try {
      const wasOurs = await raceAbort(this.#lease.release(limit.signal), limit.signal);
      if (wasOurs) log.info("Leadership released");
    } catch (error) {
      log.warn("Could not release the Lease; other replicas wait until it expires", { err: messageOf(error) });
    }
  }

  async #ended(lost: boolean): Promise<void> {
    const { log, metrics } = this.#deps;
    this.#leading = false;
    metrics.leading(false);
    this.#record("stopped leading");
    if (lost) return log.error("Leadership lost", { leader: this.#lease.holderIdentity });
    await this.#release();
  }

  #record(what: string): void {
    const { events, identity } = this.#deps;
    events.record(leaderElection(this.#lease.reference(), identity, what));
  }
}

export type ElectionMetrics = ReturnType<ReturnType<typeof electionMetrics>>;

/** Metrics of the elections, by name of the Lease: component-base/metrics/prometheus/clientgo/leaderelection v0.36.3. */
export function electionMetrics(metrics: Metrics) {
  const status = metrics.gauge({
    name: "leader_election_master_status",
    help: "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master.",
    labels: ["name"],
  });
  const slowPath = metrics.counter({
    name: "leader_election_slowpath_total",
    help: "Total number of slow path exercised in renewing leader leases.",
    labels: ["name"],
  });
  return (name: string) => ({
    leading: (isLeading: boolean): void => status.set({ name }, isLeading ? 1 : 0),
    slowPath: (): void => slowPath.inc({ name }),
  });
}
