import { hash } from "node:crypto";
import type { Event, EventInput } from "../../api/event.ts";
import type { Logger } from "../../telemetry/log.ts";
import { raceAbort, sleep } from "../../util/abort.ts";
import type { Clock, Random } from "../../util/clock.ts";
import { Lru } from "../../util/lru.ts";
import { WaitQueue } from "../../util/semaphore.ts";
import { withoutIDs, withoutRequestIDs } from "../../util/text.ts";
import { TokenBucket } from "../../util/token-bucket.ts";
import type { KubeClient } from "../client.ts";
import { isApiError } from "../errors.ts";
import { EVENTS, eventBody, eventCountPatch } from "../resources/event.ts";
import type { DropReason, EventMetrics } from "./metrics.ts";

export interface EventBroadcasterDependencies {
  /** A separate client: events must not use the budget of other writes. */
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: EventMetrics;
  /** Whether events are suppressed at present, in observe mode. @default never */
  readonly isSilent?: () => boolean;
  /** Called for each event to be written, repeated ones included. @default ignored */
  readonly onRecord?: (component: string, input: EventInput) => void;
}

/**
 * Events of 15,000 Nodes that initialize at the same time: about 5 MB for some minutes. client-go keeps 1,000 and drops the rest
 * (tools/record/event.go v0.36.3).
 */
const MAX_WAITING = 16_384;

/** client-go tries 12 times, 10 s apart, the first wait a random share of that. */
const MAX_TRIES = 12;
const RETRY_MS = 10_000;

const TIMEOUT_MS = 10_000;

/**
 * After a Normal event, a pause of this multiple of the server's response time: a busy server gets events later. Without it, events of
 * 2,000 Nodes took a fifth of the server's load for their initialization.
 */
const PAUSE_FACTOR = 3;
const MAX_PAUSE_MS = 1000;

/** Interval of the warning that events of one kind are dropped. */
const WARN_INTERVAL_MS = 1_800_000;
const MAX_WARNINGS = 1024;

/** Sends events one after the other in the background. Warnings go first, then namespaces take turns, each in recorded order. */
export class EventBroadcaster {
  readonly #deps: EventBroadcasterDependencies;
  readonly #correlator: EventCorrelator;
  readonly #waiting = new WaitQueue<Sendable>();
  readonly #warnedAtMs = new Lru<string, number>(MAX_WARNINGS);
  readonly #stop = new AbortController();
  /** Aborts at shutdown: no longer waits between attempts. */
  readonly #hurry = new AbortController();
  #sending: Promise<void> | undefined;

  constructor(dependencies: EventBroadcasterDependencies) {
    this.#deps = dependencies;
    this.#correlator = new EventCorrelator(dependencies.clock);
  }

  /** `component` is the source of its events (api/controller-names.ts EVENT_SOURCES). */
  recorder(component: string): EventRecorder {
    return { record: (input) => this.#record(component, input) };
  }

  /** Sends the queued events without long waits until `limit` aborts. Later events are dropped. */
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

  /** Excess events are dropped here, so they use no memory while the API server is unreachable. */
  #record(component: string, input: EventInput): void {
    if (this.#stop.signal.aborted) return this.#drop("shutdown", component, input);
    if (this.#deps.isSilent?.() === true) return this.#suppress(component, input);
    this.#deps.onRecord?.(component, input);
    const correlated = this.#correlator.correlate(component, input);
    if (correlated.kind === "rate_limited") return this.#drop("rate_limited", component, input);
    if (this.#waiting.size >= MAX_WAITING) return this.#drop("full", component, input);
    this.#waiting.add(input.type === "Warning" ? "high" : "low", correlated, input.regarding.namespace);
    this.#deps.metrics.waits(1);
    this.#sending ??= this.#sendAll();
  }

  #suppress(component: string, { regarding: { kind, namespace, name }, type, reason, message }: EventInput): void {
    this.#deps.metrics.dropped("observed");
    this.#deps.log.debug(2, "Suppressed event in observe mode", {
      kind,
      namespace,
      name,
      component,
      type,
      reason,
      message,
    });
  }

  /**
   * Counts each event and warns at intervals: a silent object would look healthy. The end of a process or namespace is no reason for a
   * warning.
   */
  #drop(dropReason: DropReason, component: string, { regarding, type, reason }: EventInput, error?: unknown): void {
    const { metrics, log, clock } = this.#deps;
    metrics.dropped(dropReason);
    if (dropReason === "shutdown" || dropReason === "namespace_terminating") return;
    const { kind, namespace, name } = regarding;
    const object = `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`;
    const topic = dropReason === "rate_limited" ? [dropReason, component, object, type].join("\0") : dropReason;
    const fields = { dropReason, object, component, type, reason, ...(error === undefined ? {} : { err: error }) };
    const warnedAtMs = this.#warnedAtMs.get(topic);
    const nowMs = clock.monotonicMs();
    if (warnedAtMs !== undefined && nowMs - warnedAtMs < WARN_INTERVAL_MS) return log.debug(2, "Event dropped", fields);
    this.#warnedAtMs.set(topic, nowMs);
    log.warn("Events are dropped; cloudwire_events_dropped_total counts them", fields);
  }

  /** Clears `#sending` in the same turn in which the queue is empty: the next event restarts it. */
  async #sendAll(): Promise<void> {
    const { clock, metrics } = this.#deps;
    await Promise.resolve();
    for (let next = this.#waiting.take(); next !== undefined; next = this.#waiting.take()) {
      const startMs = clock.monotonicMs();
      await this.#send(next);
      metrics.waits(-1);
      if (this.#stop.signal.aborted) break;
      if (next.event.type === "Normal") await this.#pauseAfter((clock.monotonicMs() - startMs) * PAUSE_FACTOR);
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
          const dropReason = isApiError(error, "namespaceTerminating") ? "namespace_terminating" : "rejected";
          return this.#drop(dropReason, component, { regarding: involvedObject, ...event }, error);
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
        // The server deletes events after one hour.
        if (!isApiError(error, "notFound")) throw error;
      }
    }
    await client.create(EVENTS, event.namespace, eventBody(event), options);
  }

  async #pauseAfter(pauseMs: number): Promise<void> {
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

/** Records events for `kubectl describe`. Never blocks or fails: unsent events are counted. */
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

/** Longer messages are truncated to this size in bytes. */
export const MAX_MESSAGE_BYTES = 1024;

/** Kubernetes names: DNS subdomains of at most 253 characters. */
const MAX_NAME = 253;

interface Similar {
  /** Digests: thousands of messages need megabytes. */
  readonly messages: Set<string>;
  lastMs: number;
}

interface Observed {
  readonly name: string;
  /** Digest of its message: a later one differs in IDs. */
  readonly message: string;
  readonly count: number;
  readonly firstTimestampMs: number;
}

type Correlated =
  | { readonly kind: "create" | "patch"; readonly event: Event }
  /** Too many from one source for one object: dropped. */
  | { readonly kind: "rate_limited" };

/** Decides whether an event is new, repeated, similar to others, or one too many. No I/O. */
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
    const stable = (text: string) => (input.keepsIDs === true ? text : withoutIDs(text, input.about));
    const { event, key } = this.#aggregate(this.#event(component, input), stable);
    const observed = this.#observed.get(key);
    const message = digest(event.message);
    const updated: Event =
      observed === undefined
        ? event
        : {
            ...event,
            message: observed.message === message ? event.message : stable(event.message),
            name: observed.name,
            count: observed.count + 1,
            firstTimestampMs: observed.firstTimestampMs,
          };
    const { name, count, firstTimestampMs } = updated;
    this.#observed.set(key, { name, message: digest(updated.message), count, firstTimestampMs });
    if (!this.#withinBudget(event)) return { kind: "rate_limited" };
    return { kind: observed === undefined ? "create" : "patch", event: updated };
  }

  #event(component: string, { regarding, type, reason, message, keepsIDs = false }: EventInput): Event {
    const nowMs = this.#clock.nowMs();
    return {
      namespace: regarding.namespace === "" ? "default" : regarding.namespace,
      name: this.#nameFor(regarding.name),
      resourceVersion: "",
      involvedObject: regarding,
      type,
      reason,
      message: cutBytes(keepsIDs ? message : withoutRequestIDs(message), MAX_MESSAGE_BYTES),
      component,
      count: 1,
      firstTimestampMs: nowMs,
      lastTimestampMs: nowMs,
    };
  }

  /** Aggregates events that differ only in their message, from the tenth on. */
  #aggregate(event: Event, stable: (text: string) => string): { event: Event; key: string } {
    const nowMs = this.#clock.monotonicMs();
    const message = digest(stable(event.message));
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
    // client-go removes a random one; then this message would become a separate Event next time.
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

  /** `<object>.<16 hex digits of time>`, unique. */
  #nameFor(object: string): string {
    const nanos = BigInt(Math.floor(this.#clock.nowMs())) * 1_000_000n;
    this.#lastNanos = nanos > this.#lastNanos ? nanos : this.#lastNanos + 1n;
    const suffix = `.${this.#lastNanos.toString(16).padStart(16, "0")}`;
    return `${object.slice(0, MAX_NAME - suffix.length)}${suffix}`;
  }
}

function digest(text: string): string {
  return hash("sha256", text, "base64");
}

function keyFrom({ component, involvedObject }: Event, more: readonly string[]): string {
  const { apiVersion, kind, namespace, name, uid, fieldPath = "" } = involvedObject;
  return [component, apiVersion, kind, namespace, name, uid, fieldPath, ...more].join("\0");
}

function cutBytes(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  // A cut inside a character leaves U+FFFD at the end.
  return `${Buffer.from(text)
    .subarray(0, limit - 3)
    .toString("utf8")
    .replace(/\uFFFD$/, "")}...`;
}
