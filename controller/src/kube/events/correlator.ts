import { hash } from "node:crypto";
import type { Event, EventInput } from "../../api/event.ts";
import type { Clock } from "../../util/clock.ts";
import { Lru } from "../../util/lru.ts";
import { TokenBucket } from "../../util/token-bucket.ts";

// Numbers and order of the three steps: client-go/tools/record/events_cache.go v0.36.3.
const CACHE_ENTRIES = 4096;
export const SIMILAR_EVENTS = 10;
export const SIMILAR_WITHIN_MS = 600_000;
export const SPAM_BURST = 25;
export const SPAM_REFILL_MS = 300_000;
export const AGGREGATE_PREFIX = "(combined from similar events): ";

/** Cut here, in bytes: a provider's message may be a whole page. */
export const MAX_MESSAGE_BYTES = 1024;

/** Kubernetes names: DNS subdomains of at most 253 characters. */
const MAX_NAME = 253;

interface Similar {
  /** Digests: thousands of messages would be megabytes. */
  readonly messages: Set<string>;
  lastMs: number;
}

interface Observed {
  readonly name: string;
  readonly count: number;
  readonly firstTimestampMs: number;
}

/** What to do about one event. */
export type Correlated =
  | { readonly kind: "create" | "patch"; readonly event: Event }
  /** Too many from one source about one object: dropped. */
  | { readonly kind: "spam" };

/** Decides whether an event is new, one more of the same, one of too many alike, or too much altogether. No I/O. */
export class EventCorrelator {
  readonly #clock: Clock;
  readonly #similar = new Lru<string, Similar>(CACHE_ENTRIES);
  readonly #observed = new Lru<string, Observed>(CACHE_ENTRIES);
  readonly #budgets = new Lru<string, TokenBucket>(CACHE_ENTRIES);
  #lastNanos = 0n;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  correlate(component: string, input: EventInput): Correlated {
    const { event, key } = this.#aggregate(this.#event(component, input));
    const observed = this.#observed.get(key);
    const told: Event =
      observed === undefined
        ? event
        : { ...event, name: observed.name, count: observed.count + 1, firstTimestampMs: observed.firstTimestampMs };
    this.#observed.set(key, { name: told.name, count: told.count, firstTimestampMs: told.firstTimestampMs });
    if (!this.#withinBudget(event)) return { kind: "spam" };
    return { kind: observed === undefined ? "create" : "patch", event: told };
  }

  #event(component: string, { regarding, type, reason, message }: EventInput): Event {
    const nowMs = this.#clock.nowMs();
    return {
      namespace: regarding.namespace === "" ? "default" : regarding.namespace,
      name: this.#nameFor(regarding.name),
      resourceVersion: "",
      involvedObject: regarding,
      type,
      reason,
      message: cutBytes(message, MAX_MESSAGE_BYTES),
      component,
      count: 1,
      firstTimestampMs: nowMs,
      lastTimestampMs: nowMs,
    };
  }

  /** Events alike but for their message become one, once there are many of them: those after the first nine. */
  #aggregate(event: Event): { event: Event; key: string } {
    const nowMs = this.#clock.monotonicMs();
    const message = hash("sha256", event.message, "base64");
    const aggregateKey = keyFrom(event, [event.type, event.reason]);
    let similar = this.#similar.get(aggregateKey);
    if (similar === undefined || nowMs - similar.lastMs > SIMILAR_WITHIN_MS) {
      similar = { messages: new Set(), lastMs: nowMs };
    }
    similar.messages.add(message);
    similar.lastMs = nowMs;
    this.#similar.set(aggregateKey, similar);
    if (similar.messages.size < SIMILAR_EVENTS) {
      return { event, key: keyFrom(event, [event.type, event.reason, message]) };
    }
    // client-go forgets any one of them. Were it another, this message would be an Event of its own the next time.
    similar.messages.delete(message);
    return { event: { ...event, message: `${AGGREGATE_PREFIX}${event.message}` }, key: aggregateKey };
  }

  #withinBudget(event: Event): boolean {
    const key = keyFrom(event, [event.type]);
    const bucket =
      this.#budgets.get(key) ?? new TokenBucket({ perSecond: 1000 / SPAM_REFILL_MS, burst: SPAM_BURST }, this.#clock);
    this.#budgets.set(key, bucket);
    return bucket.tryTake();
  }

  /** `<object>.<16 hex digits of time>`, never the same twice. */
  #nameFor(object: string): string {
    const nanos = BigInt(Math.floor(this.#clock.nowMs())) * 1_000_000n;
    this.#lastNanos = nanos > this.#lastNanos ? nanos : this.#lastNanos + 1n;
    const suffix = `.${this.#lastNanos.toString(16).padStart(16, "0")}`;
    return `${object.slice(0, MAX_NAME - suffix.length)}${suffix}`;
  }
}

function keyFrom({ component, involvedObject }: Event, more: readonly string[]): string {
  const { apiVersion, kind, namespace, name, uid, fieldPath = "" } = involvedObject;
  return [component, apiVersion, kind, namespace, name, uid, fieldPath, ...more].join("\0");
}

function cutBytes(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  // Cutting inside a character leaves U+FFFD at the end at worst: taken off.
  return `${Buffer.from(text)
    .subarray(0, limit - 3)
    .toString("utf8")
    .replace(/\uFFFD$/, "")}...`;
}
