import type { ObjectReference } from "../api/meta.ts";
import type { Logger } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { childSignal, deadlineSignal, raceAbort, sleep } from "../util/abort.ts";
import type { Clock, Random } from "../util/clock.ts";
import { messageOf } from "../util/errors.ts";
import type { KubeClient, ListWatcher } from "../kube/client.ts";
import type { EventRecorder } from "../kube/events/broadcaster.ts";
import type { LeaseAnnotation } from "../runtime/lease-annotation.ts";
import { leaderElection } from "./events.ts";
import { LeaseLock } from "./lease-lock.ts";
import { LeaseStandby } from "./standby.ts";

/** Timings in milliseconds. Upstream's defaults: component-base/config/v1alpha1/defaults.go v0.36.3. */
export interface LeaderElectionTimings {
  /** Others wait this long after the last renewal they saw. @default 15_000 */
  readonly leaseDurationMs: number;
  /** A leader that tries in vain to renew for this long stops leading, or before its lease ends if that is earlier. Must be below the lease duration. @default 10_000 */
  readonly renewDeadlineMs: number;
  /** Between tries to acquire or renew. @default 2_000 */
  readonly retryPeriodMs: number;
}

export const DEFAULT_TIMINGS: LeaderElectionTimings = {
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  retryPeriodMs: 2000,
};

export interface LeaderElectionDependencies {
  readonly client: KubeClient & Pick<ListWatcher, "watch">;
  /** @see LeaderElectionTimings */
  readonly timings: LeaderElectionTimings;
  readonly lock: { readonly namespace: string; readonly name: string };
  /** `<hostname>_<uuid>`; unique a process. */
  readonly identity: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly metrics: ElectionMetrics;
  readonly annotations: LeaseAnnotation;
}

/** Leadership ended without being given up: another process may lead already. */
class LeadershipLostError extends Error {
  readonly code = "LEADERSHIP_LOST";

  constructor(message: string) {
    super(message);
    this.name = "LeadershipLostError";
  }
}

/** `stopped`: the signal aborted, whatever was held is released. `lost`: another may lead; the process must end. */
export type ElectionEnd = "stopped" | "lost";

/** A leader is unhealthy once its lease is expired for longer than this (cloud-provider/app/controllermanager.go v0.36.3). */
const UNHEALTHY_AFTER_MS = 20_000;

/** Part of the lease for which nobody leads if it is not renewed: clocks do not run quite alike, timers are late, and work takes a moment to stop. */
const MARGIN = 0.05;

/** How long a renewal ahead of its time waits for what else is to go with it. */
const GATHER_MS = 200;

/**
 * Leader election on a Lease, with client-go's rules: a lease counts as expired only after it was seen unchanged for its duration
 * by this process' own clock, so clocks of machines need not agree.
 */
export class LeaderElector {
  readonly #deps: LeaderElectionDependencies;
  readonly #lease: LeaseLock;
  #leading = false;
  #renewedMs = 0;
  /** Something waits for the next renewal. */
  #isAwaited = false;
  #wake: () => void = () => undefined;

  constructor(dependencies: LeaderElectionDependencies) {
    const { client, lock, identity, timings, clock, log, metrics, annotations } = dependencies;
    this.#deps = dependencies;
    // client-go gives the election's client half the renew deadline: two tries fit before leading ends.
    const timeoutMs = timings.renewDeadlineMs / 2;
    const onSlowPath = (): void => metrics.slowPath();
    this.#lease = new LeaseLock({
      client,
      lock,
      identity,
      timeoutMs,
      leaseDurationMs: timings.leaseDurationMs,
      clock,
      log,
      annotations,
      onSlowPath,
    });
    annotations.keptOn?.(() => this.renewSoon());
    metrics.leading(false);
  }

  get leading(): boolean {
    return this.#leading;
  }

  /** Of this process, on the Lease. */
  get identity(): string {
    return this.#deps.identity;
  }

  /** Who leads, as the Lease was last seen; "": nobody. */
  get leader(): string {
    return this.#lease.holder;
  }

  /** The Lease, to say something about. */
  get reference(): ObjectReference {
    return this.#lease.reference();
  }

  /** Why this process should be restarted: it believes to lead but has not renewed for far too long. undefined is healthy. */
  unhealthy(): string | undefined {
    const { clock, timings, lock } = this.#deps;
    if (!this.#leading) return undefined;
    const ageMs = clock.monotonicMs() - this.#renewedMs;
    if (ageMs <= timings.leaseDurationMs + UNHEALTHY_AFTER_MS) return undefined;
    return `lease ${lock.namespace}/${lock.name} was last renewed ${Math.round(ageMs / 1000)} s ago`;
  }

  /** A leader renews ahead of its time: annotations have changed, and somebody waits until they are on the Lease. */
  renewSoon(): void {
    this.#isAwaited = true;
    this.#wake();
  }

  /**
   * Waits for leadership, then runs `lead` while renewing. `lead` gets a signal that aborts the moment leadership is lost; on a
   * shutdown it finishes in its own time, and the lease is renewed until then and released right after. A throw of `lead` is passed on.
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
    // The last try may have taken it.
    await this.#release();
    return false;
  }

  #began(): void {
    const { clock, log, metrics, identity } = this.#deps;
    this.#leading = true;
    this.#renewedMs = clock.monotonicMs();
    metrics.leading(true);
    log.info("Became leader", { identity });
    this.#say("became leader");
  }

  async #renewUntilLost(signal: AbortSignal, term: AbortController): Promise<void> {
    let why: string | undefined;
    while (!signal.aborted && why === undefined) {
      await this.#untilRenewal(signal);
      why = await this.#renew(signal);
    }
    if (why !== undefined) term.abort(new LeadershipLostError(why));
  }

  async #untilRenewal(signal: AbortSignal): Promise<void> {
    const { clock, timings } = this.#deps;
    using nap = childSignal(signal);
    this.#wake = () => nap.abort(new Error("a renewal is awaited"));
    if (!this.#isAwaited) await sleep(timings.retryPeriodMs, nap.signal, clock).catch(() => undefined);
    if (this.#isAwaited) await sleep(Math.min(GATHER_MS, timings.retryPeriodMs), signal, clock).catch(() => undefined);
    this.#isAwaited = false;
  }

  /** How much longer this process may lead if it does not renew. */
  get #leftMs(): number {
    const { clock, timings } = this.#deps;
    return this.#lease.heldUntilMs - MARGIN * timings.leaseDurationMs - clock.monotonicMs();
  }

  /** Tries until the lease is renewed (or `signal` aborts); answers why it is lost otherwise. */
  async #renew(signal: AbortSignal): Promise<string | undefined> {
    const { clock, timings, identity } = this.#deps;
    const deadlineMs = Math.min(timings.renewDeadlineMs, this.#leftMs);
    // Also ends the wait for the request in flight: leading must end before the lease does.
    using cycle = deadlineSignal(signal, deadlineMs, "renewing the lease", clock);
    // The clock is looked at, too: after a standstill of the process no timer has fired yet.
    while (!cycle.signal.aborted && this.#leftMs > 0) {
      if (await this.#try(cycle.signal)) {
        this.#renewedMs = clock.monotonicMs();
        return undefined;
      }
      const { holder } = this.#lease;
      if (holder !== identity && holder !== "") return `the lease was taken by ${holder}`;
      await sleep(timings.retryPeriodMs, cycle.signal, clock).catch(() => undefined);
    }
    const agoMs = Math.round(clock.monotonicMs() - this.#renewedMs);
    return signal.aborted ? undefined : `the lease could not be renewed for ${agoMs} ms`;
  }

  /**
   * True: the lease is held, and was not answered for so late that it has run out again. Ends with the signal whatever the client does:
   * nobody may lead on because a call of its own heeds no deadline.
   */
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
      log.warn("Lease not released; others wait until it expires", { err: messageOf(error) });
    }
  }

  async #ended(lost: boolean): Promise<void> {
    const { log, metrics } = this.#deps;
    this.#leading = false;
    metrics.leading(false);
    this.#say("stopped leading");
    if (lost) return log.error("Leadership lost", { leader: this.#lease.holder });
    await this.#release();
  }

  #say(what: string): void {
    const { events, identity } = this.#deps;
    events.record(leaderElection(this.#lease.reference(), identity, what));
  }
}

export interface ElectionMetrics {
  leading(isLeading: boolean): void;
  slowPath(): void;
}

/** What elections of a process measure, by the name of the Lease: component-base/metrics/prometheus/clientgo/leaderelection v0.36.3. */
export function electionMetrics(metrics: Metrics): (name: string) => ElectionMetrics {
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
  return (name) => ({
    leading: (isLeading) => status.set({ name }, isLeading ? 1 : 0),
    slowPath: () => slowPath.inc({ name }),
  });
}
