import type { Gauge } from "prom-client";
import type { Clock } from "../../util/clock.ts";
import { Lru } from "../../util/lru.ts";
import type { WaitReason } from "./plan.ts";
import type { DroppedLabel } from "./plan/labels.ts";

/** A Node may wait this long for its owner in silence: a provider that is rolled out later, or a controller of another kind. */
export const UNOWNED_IS_NEWS_AFTER_MS = 300_000;

/** What passes by itself is news when it has not passed for so long. */
export const DELAY_IS_NEWS_AFTER_MS = 120_000;

/** What still holds is said again, for events live for an hour. */
const TELL_AGAIN_MS = 1_800_000;

/** Of different things to say about one Node at most so many are remembered. */
const MAX_TOLD = 16;

/** One more try that did not end the wait. */
export interface Wait {
  readonly reason: WaitReason;
  /** What is told; said twice only after a long time. */
  readonly topic: string;
  /** How long the Node may wait before that is told. */
  readonly newsAfterMs: number;
}

export interface Noted {
  /** Tries in vain so far. */
  readonly failures: number;
  /** It is time to tell. */
  readonly tell: boolean;
  /** How long until it is news; 0: it is. */
  readonly newsInMs: number;
}

interface Waiting {
  readonly sinceMs: number;
  readonly failures: number;
  readonly reason: WaitReason;
  /** When each topic was told. */
  readonly told: Map<string, number>;
}

/** Nodes that keep their taint, for how long and why. */
export class WaitingNodes {
  readonly #gauge: Gauge<"reason">;
  readonly #unowned: Gauge;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();

  constructor(metrics: { readonly uninitialized: Gauge<"reason">; readonly unowned: Gauge }, clock: Clock) {
    this.#gauge = metrics.uninitialized;
    this.#unowned = metrics.unowned;
    this.#clock = clock;
    metrics.unowned.set(0);
  }

  add(key: string, { reason, topic, newsAfterMs }: Wait): Noted {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#waiting.get(key);
    const sinceMs = before?.sinceMs ?? nowMs;
    const failures = (before?.failures ?? 0) + 1;
    const told = before?.told ?? new Map<string, number>();
    this.#waiting.set(key, { sinceMs, failures, reason, told });
    this.#count(before?.reason, reason);
    const newsInMs = Math.max(0, sinceMs + newsAfterMs - nowMs);
    const toldAtMs = told.get(topic);
    const tell = newsInMs === 0 && (toldAtMs === undefined || nowMs - toldAtMs >= TELL_AGAIN_MS);
    if (tell) {
      if (told.size >= MAX_TOLD) told.clear();
      told.set(topic, nowMs);
    }
    return { failures, tell, newsInMs };
  }

  /** The Node is initialised or gone. */
  forget(key: string): void {
    const before = this.#waiting.get(key);
    if (!this.#waiting.delete(key)) return;
    this.#count(before?.reason, undefined);
  }

  #count(before: WaitReason | undefined, now: WaitReason | undefined): void {
    if (before === now) return;
    if (before !== undefined) this.#gauge.dec({ reason: before });
    if (now !== undefined) this.#gauge.inc({ reason: now });
    if (before === "unowned") this.#unowned.dec();
    if (now === "unowned") this.#unowned.inc();
  }
}

/** A provider sends the same labels for all of its machines: more keys than this are told again now and then. */
const MAX_KEYS = 1000;

/** Keys of the cloud's labels that no Node gets: the vendor's to mend, so each is said once and not once a Node. */
export class DroppedLabels {
  readonly #told = new Lru<string, true>(MAX_KEYS);

  /** Those not told yet. */
  news(labels: readonly DroppedLabel[]): readonly DroppedLabel[] {
    return labels.filter(({ key, why }) => {
      const topic = `${why} ${key}`;
      if (this.#told.get(topic) === true) return false;
      this.#told.set(topic, true);
      return true;
    });
  }
}
