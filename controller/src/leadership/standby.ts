import { childSignal, type OwnedSignal, sleep } from "../util/abort.ts";
import { Backoff } from "../util/backoff.ts";
import type { Random } from "../util/clock.ts";
import type { ListWatcher } from "../kube/client.ts";
import { LEASES, type LeaseLock, type LeaseLockDependencies } from "./lease-lock.ts";

export interface LeaseStandbyDependencies
  extends Pick<LeaseLockDependencies, "lock" | "leaseDurationMs" | "clock" | "log"> {
  readonly lease: LeaseLock;
  readonly client: Pick<ListWatcher, "watch">;
  /** Between two polls when the Lease cannot be watched; also the initial back-off of the watch. */
  readonly retryPeriodMs: number;
  readonly random: Random;
}

/** Jitter of polling: up to retry period x 2.2 (JitterFactor 1.2, client-go/tools/leaderelection/leaderelection.go v0.36.3). */
const POLL_JITTER = 1.2;

/** Spreads the writes of standbys that see a Lease become free at the same time. */
const STAGGER_MS = 200;

/** How often to recheck whether another candidate should still go first. */
const DEFER_STEP_MS = 250;

const WATCH_SECONDS = 300;
const START_MS = 10_000;
const MAX_PAUSE_MS = 60_000;

/** Waits for a Lease that another process holds: watches it, and polls it, as client-go does, where it cannot be watched. */
export class LeaseStandby implements Disposable {
  readonly #deps: LeaseStandbyDependencies;
  readonly #ending: OwnedSignal;
  readonly #backoff: Backoff;
  #isWatching = false;
  #isLive = false;
  #hasLogged = false;
  #wake: () => void = () => undefined;

  constructor(dependencies: LeaseStandbyDependencies, signal: AbortSignal) {
    const { retryPeriodMs, random } = dependencies;
    this.#deps = dependencies;
    this.#ending = childSignal(signal);
    this.#backoff = new Backoff({ initialMs: retryPeriodMs, maxMs: MAX_PAUSE_MS, jitter: 0.5 }, random);
  }

  /** Resolves when, after a failed attempt, the next one can succeed; also when the signal aborts. */
  async untilNextTry(): Promise<void> {
    const { clock, random, retryPeriodMs } = this.#deps;
    const { signal } = this.#ending;
    const attemptedAtMs = clock.monotonicMs();
    const pollAtMs = attemptedAtMs + Math.ceil(retryPeriodMs * (1 + POLL_JITTER * random()));
    const staggerMs = Math.ceil(STAGGER_MS * random());
    const wasAcquirable = this.#deps.lease.acquirableAtMs <= attemptedAtMs;
    await this.#deps.lease.propose(signal);
    if (!this.#isWatching) void this.#watch();
    this.#isWatching = true;
    while (!signal.aborted) {
      using nap = childSignal(signal);
      this.#wake = () => nap.abort(new Error("the lease has changed"));
      const { acquirableAtMs } = this.#deps.lease;
      const dueMs = acquirableAtMs + staggerMs;
      // The last attempt failed although the Lease was free, as when the server fails: wait for the usual pause.
      const isUseless = wasAcquirable && acquirableAtMs <= attemptedAtMs;
      const wakeAtMs = isUseless ? pollAtMs : Math.min(dueMs, this.#isLive ? dueMs : pollAtMs);
      const waitMs = wakeAtMs - clock.monotonicMs();
      if (waitMs <= 0) return;
      // Another candidate may no longer need to go first: wait for it in steps.
      const napMs = Math.max(DEFER_STEP_MS, waitMs - this.#deps.lease.deferMs);
      await sleep(Math.min(napMs, waitMs), nap.signal, clock).catch(() => undefined);
    }
  }

  [Symbol.dispose](): void {
    this.#ending.abort(new Error("the standby ended"));
    this.#ending[Symbol.dispose]();
  }

  /** Requires a version, which the first attempt reads. Not awaited: a new leader must renew. */
  async #watch(): Promise<void> {
    const { lease, clock } = this.#deps;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const { resourceVersion } = lease;
      if (resourceVersion !== undefined) await this.#follow(resourceVersion, signal);
      await sleep(this.#backoff.nextMs(), signal, clock).catch(() => undefined);
    }
  }

  async #follow(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { client, lock, lease, random, leaseDurationMs } = this.#deps;
    try {
      const events = client.watch(LEASES, {
        signal,
        namespace: lock.namespace,
        fieldSelector: `metadata.name=${lock.name}`,
        resourceVersion,
        timeoutSeconds: Math.floor(WATCH_SECONDS * (1 + random())),
        startTimeoutMs: START_MS,
        initialIdleTimeoutMs: START_MS,
        // A leader renews several times in this period; without events the watch may be dead.
        idleTimeoutMs: 2 * leaseDurationMs,
      });
      for await (const event of events) {
        this.#isLive = true;
        // The leader recreates a deleted Lease at its next renewal.
        if (event.kind !== "added" && event.kind !== "modified") continue;
        this.#backoff.reset();
        lease.observe(event.object);
        this.#wake();
        await lease.propose(signal);
      }
    } catch (error) {
      if (!signal.aborted) this.#log(error);
    }
    this.#isLive = false;
    this.#wake();
  }

  #log(error: unknown): void {
    const { log, lock } = this.#deps;
    const fields = { lease: `${lock.namespace}/${lock.name}`, err: error };
    if (this.#hasLogged) return log.debug(2, "Could not watch the Lease", fields);
    this.#hasLogged = true;
    log.info("Could not watch the Lease; polling it until the watch succeeds", fields);
  }
}
