import { hash } from "node:crypto";
import type { Event, EventInput } from "../../api/event.ts";
import type { Logger } from "../../telemetry/log.ts";
import { raceAbort, sleep } from "../../util/abort.ts";
import type { Clock, Random } from "../../util/clock.ts";
import { Lru } from "../../util/lru.ts";
import { WaitQueue } from "../../util/semaphore.ts";
import { TokenBucket } from "../../util/token-bucket.ts";
import type { KubeClient } from "../client.ts";
import { isApiError } from "../errors.ts";
import { EVENTS, eventBody, eventCountPatch } from "../resources/event.ts";
import type { DropReason, EventMetrics } from "./metrics.ts";

export interface EventBroadcasterDependencies {
  /** Its own client: events must not use up the budget of the writes that matter. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: EventMetrics;
  /** Whether what is said now is kept back: what it is about is only observed. @default never */
  readonly isSilent?: () => boolean;
  /** Told of each event that is meant to be written, of each one in a row. @default nobody is */
  readonly onRecord?: (component: string, input: EventInput) => void;
}

/**
 * That a cluster of 15,000 Nodes was initialised at once is told of each of them, some minutes long: about 5 MB. client-go holds 1,000 and
 * drops the rest (tools/record/event.go v0.36.3).
 */
const MAX_WAITING = 16_384;

/** client-go tries 12 times, 10 s apart, the first wait a random share of that. */
const MAX_TRIES = 12;
const RETRY_MS = 10_000;

const TIMEOUT_MS = 10_000;

/**
 * After news a pause, so many times as long as the server took for it: a server that is busy with the writes themselves hears of them
 * later. Sent as fast as it goes, news of 2,000 Nodes was a fifth of what their initialisation cost the server.
 */
const PAUSE_FACTOR = 3;
const MAX_PAUSE_MS = 1000;

/** The log says again that events of one kind are dropped after this. */
const TELL_AGAIN_MS = 1_800_000;
const MAX_TOLD = 1024;

/**
 * Sends events in the background, one after the other: they must not hold up the writes that they tell of. Warnings go first, each kind in
 * the order in which it was recorded.
 */
export class EventBroadcaster {
  readonly #deps: EventBroadcasterDependencies;
  readonly #correlator: EventCorrelator;
  readonly #waiting = new WaitQueue<Sendable>();
  readonly #toldAtMs = new Lru<string, number>(MAX_TOLD);
  readonly #stop = new AbortController();
  /** Aborts when the end has come: no more waits. */
  readonly #hurry = new AbortController();
  #sending: Promise<void> | undefined;

  constructor(dependencies: EventBroadcasterDependencies) {
    this.#deps = dependencies;
    this.#correlator = new EventCorrelator(dependencies.clock);
  }

  /** A recorder whose events say they come from `component` (api/controller-names.ts EVENT_SOURCES). */
  recorder(component: string): EventRecorder {
    return { record: (input) => this.#record(component, input) };
  }

  /** Sends what is waiting, without the long waits between tries, until `limit` aborts. What is recorded later is dropped. */
  async flush(limit: AbortSignal): Promise<void> {
    this.#hurry.abort(new Error("event broadcaster ends"));
    await raceAbort(this.#sending ?? Promise.resolve(), limit).catch(() => undefined);
    this.#stop.abort(new Error("event broadcaster stopped"));
    await this.#sending;
    while (this.#waiting.take() !== undefined) {
      this.#deps.metrics.dropped("shutdown");
      this.#deps.metrics.waits(-1);
    }
  }

  /** What is too much is dropped here already: it takes no place from others, however long the API server is away. */
  #record(component: string, input: EventInput): void {
    if (this.#stop.signal.aborted) return this.#drop("shutdown", component, input);
    if (this.#deps.isSilent?.() === true) return this.#keepBack(component, input);
    this.#deps.onRecord?.(component, input);
    const correlated = this.#correlator.correlate(component, input);
    if (correlated.kind === "rate_limited") return this.#drop("rate_limited", component, input);
    if (this.#waiting.size >= MAX_WAITING) return this.#drop("full", component, input);
    this.#waiting.add(input.type === "Warning" ? "high" : "low", correlated);
    this.#deps.metrics.waits(1);
    this.#sending ??= this.#sendAll();
  }

  /** It may tell of what was not done. */
  #keepBack(component: string, { regarding: { kind, namespace, name }, type, reason, message }: EventInput): void {
    this.#deps.metrics.dropped("observed");
    this.#deps.log.debug(2, "Event not written: observed", { kind, namespace, name, component, type, reason, message });
  }

  /** Counted each time, told once in a while: an object that goes quiet would look as if it were well. */
  #drop(dropReason: DropReason, component: string, { regarding, type, reason }: EventInput, error?: unknown): void {
    const { metrics, log, clock } = this.#deps;
    metrics.dropped(dropReason);
    if (dropReason === "shutdown") return;
    const { kind, namespace, name } = regarding;
    const object = `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`;
    const topic = dropReason === "rate_limited" ? [dropReason, component, object, type].join("\0") : dropReason;
    const fields = { dropReason, object, component, type, reason, ...(error === undefined ? {} : { err: error }) };
    const toldAtMs = this.#toldAtMs.get(topic);
    const nowMs = clock.monotonicMs();
    if (toldAtMs !== undefined && nowMs - toldAtMs < TELL_AGAIN_MS) return log.debug(2, "Event dropped", fields);
    this.#toldAtMs.set(topic, nowMs);
    log.warn("Events are dropped; cloudwire_events_dropped_total counts them", fields);
  }

  /** Ends, and says so, in the same turn in which it finds nothing left: an event recorded after that starts it again. */
  async #sendAll(): Promise<void> {
    const { clock, metrics } = this.#deps;
    await Promise.resolve();
    for (let next = this.#waiting.take(); next !== undefined; next = this.#waiting.take()) {
      const startMs = clock.monotonicMs();
      await this.#send(next);
      metrics.waits(-1);
      if (this.#stop.signal.aborted) break;
      if (next.event.type === "Normal") await this.#rest((clock.monotonicMs() - startMs) * PAUSE_FACTOR);
    }
    this.#sending = undefined;
  }

  async #send(correlated: Sendable): Promise<void> {
    const { metrics } = this.#deps;
    for (let tries = 1; !this.#stop.signal.aborted; tries++) {
      try {
        await this.#write(correlated);
        return metrics.sent();
      } catch (error) {
        if (!worthRepeating(error) || tries >= MAX_TRIES || this.#hurry.signal.aborted) {
          const { component, involvedObject, ...event } = correlated.event;
          return this.#drop("rejected", component, { regarding: involvedObject, ...event }, error);
        }
        await this.#pause(tries);
      }
    }
    metrics.dropped("shutdown");
  }

  async #write({ kind, event }: Sendable): Promise<void> {
    const { client } = this.#deps;
    const options = { signal: this.#stop.signal, timeoutMs: TIMEOUT_MS };
    if (kind === "patch") {
      try {
        await client.patch(EVENTS, event, { kind: "strategic", body: eventCountPatch(event) }, options);
        return;
      } catch (error) {
        // Events live one hour on the server; ours may outlive theirs.
        if (!isApiError(error, "notFound")) throw error;
      }
    }
    await client.create(EVENTS, event.namespace, eventBody(event), options);
  }

  async #rest(pauseMs: number): Promise<void> {
    if (pauseMs < 1) return;
    await sleep(Math.min(pauseMs, MAX_PAUSE_MS), this.#hurry.signal, this.#deps.clock).catch(() => undefined);
  }

  async #pause(tries: number): Promise<void> {
    const share = tries === 1 ? this.#deps.random() : 1;
    await sleep(RETRY_MS * share, this.#stop.signal, this.#deps.clock).catch(() => undefined);
  }
}

type Sendable = Extract<Correlated, { kind: "create" | "patch" }>;

function worthRepeating(error: unknown): boolean {
  return isApiError(error, "transient") || isApiError(error, "tooManyRequests");
}

/** Says something about an object, for `kubectl describe`. Never blocks, never fails: what cannot be sent is counted. */
export interface EventRecorder {
  record(event: EventInput): void;
}

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
type Correlated =
  | { readonly kind: "create" | "patch"; readonly event: Event }
  /** Too many from one source about one object: dropped. */
  | { readonly kind: "rate_limited" };

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
    if (!this.#withinBudget(event)) return { kind: "rate_limited" };
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
