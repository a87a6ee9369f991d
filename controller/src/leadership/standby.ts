import type { Logger } from "../telemetry/log.ts";
import { childSignal, type OwnedSignal, sleep } from "../util/abort.ts";
import { Backoff } from "../util/backoff.ts";
import type { Clock, Random } from "../util/clock.ts";
import type { ListWatcher } from "../kube/client.ts";
import { LEASES, type LeaseLock } from "./lease-lock.ts";

export interface LeaseStandbyDependencies {
  readonly lease: LeaseLock;
  readonly lock: { readonly namespace: string; readonly name: string };
  readonly client: Pick<ListWatcher, "watch">;
  /** Between two looks when the lease cannot be watched; also the first pause before it is watched again. */
  readonly retryPeriodMs: number;
  readonly leaseDurationMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** Jitter of polling: up to retry period x 2.2 (JitterFactor 1.2, client-go/tools/leaderelection/leaderelection.go v0.36.3). */
const POLL_JITTER = 1.2;

/** Several standbys that see a lease become free at the same moment do not all write at the same moment. */
const STAGGER_MS = 200;

/** While others are let go first, it is looked again so often whether there still is reason to. */
const DEFER_STEP_MS = 250;

const WATCH_SECONDS = 300;
const START_MS = 10_000;
const MAX_PAUSE_MS = 60_000;

/**
 * Waits for a Lease that another holds. It is watched, so that its release and its last renewal are seen when they happen; where it
 * cannot be watched it is polled, as client-go does. Whether the lease may be taken is for the lock alone to say.
 */
export class LeaseStandby implements Disposable {
  readonly #deps: LeaseStandbyDependencies;
  readonly #ending: OwnedSignal;
  readonly #backoff: Backoff;
  #isWatching = false;
  /** What is seen of the lease is seen as it happens. */
  #isLive = false;
  #hasTold = false;
  #wake: () => void = () => undefined;

  constructor(dependencies: LeaseStandbyDependencies, signal: AbortSignal) {
    const { retryPeriodMs, random } = dependencies;
    this.#deps = dependencies;
    this.#ending = childSignal(signal);
    this.#backoff = new Backoff({ initialMs: retryPeriodMs, maxMs: MAX_PAUSE_MS, jitter: 0.5 }, random);
  }

  /** Resolves when, after a try in vain, the next one is worth while, or with the signal. */
  async untilNextTry(): Promise<void> {
    const { clock, random, retryPeriodMs } = this.#deps;
    const { signal } = this.#ending;
    const triedAtMs = clock.monotonicMs();
    const pollAtMs = triedAtMs + Math.ceil(retryPeriodMs * (1 + POLL_JITTER * random()));
    const staggerMs = Math.ceil(STAGGER_MS * random());
    const wasTakeable = this.#deps.lease.takeableAtMs <= triedAtMs;
    await this.#deps.lease.propose(signal);
    this.#startWatching();
    while (!signal.aborted) {
      using nap = childSignal(signal);
      this.#wake = () => nap.abort(new Error("the lease has changed"));
      const { takeableAtMs } = this.#deps.lease;
      const dueMs = takeableAtMs + staggerMs;
      // It could be taken at the last try already, and was not, as when the server fails: nothing to gain before the usual pause.
      const isInVain = wasTakeable && takeableAtMs <= triedAtMs;
      const wakeAtMs = isInVain ? pollAtMs : Math.min(dueMs, this.#isLive ? dueMs : pollAtMs);
      const waitMs = wakeAtMs - clock.monotonicMs();
      if (waitMs <= 0) return;
      // The part of the wait for which only manners are the reason is looked at step by step.
      const napMs = Math.max(DEFER_STEP_MS, waitMs - this.#deps.lease.deferMs);
      await sleep(Math.min(napMs, waitMs), nap.signal, clock).catch(() => undefined);
    }
  }

  [Symbol.dispose](): void {
    this.#ending.abort(new Error("standing by ended"));
    this.#ending[Symbol.dispose]();
  }

  /** Only once the lease is known, which the first try reads. Ends with the signal, and nobody waits for that: a leader must renew. */
  #startWatching(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    void this.#watch();
  }

  async #watch(): Promise<void> {
    const { lease, clock } = this.#deps;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const { resourceVersion } = lease;
      if (resourceVersion !== undefined) await this.#follow(resourceVersion, signal);
      await sleep(this.#backoff.nextMs(), signal, clock).catch(() => undefined);
    }
  }

  /** One watch, until it ends. */
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
        // A leader renews many times meanwhile, and a lease that nobody renews was tried by then: the watch may be dead.
        idleTimeoutMs: 2 * leaseDurationMs,
      });
      for await (const event of events) {
        this.#isLive = true;
        // A lease that was deleted is most likely made again by its holder at the next renewal.
        if (event.kind !== "added" && event.kind !== "modified") continue;
        this.#backoff.reset();
        lease.observe(event.object);
        this.#wake();
        await lease.propose(signal);
      }
    } catch (error) {
      if (!signal.aborted) this.#tell(error);
    }
    this.#isLive = false;
    this.#wake();
  }

  #tell(error: unknown): void {
    const { log, lock } = this.#deps;
    const fields = { lease: `${lock.namespace}/${lock.name}`, err: error };
    if (this.#hasTold) return log.debug(2, "Lease not watched", fields);
    this.#hasTold = true;
    log.info("Lease not watched; it is read from time to time until it can be", fields);
  }
}
