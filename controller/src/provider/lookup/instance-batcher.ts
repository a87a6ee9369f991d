import type { Span, Tracing } from "../../telemetry/tracing.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import type { Priority } from "../../util/semaphore.ts";
import type { ReadOptions } from "../model/client.ts";
import { asProviderError, contractError } from "../model/errors.ts";
import type { InstanceAnswer, NodeRef } from "../model/instance.ts";

/** How long a request waits for others to share its call: short compared with any cloud call. */
const WINDOW_MS = 15;

/** Cached results of companions that are newer are not requested again. */
const COMPANION_MAX_AGE_MS = 1000;

/** Concurrent calls. More would not be faster: waiting requests fill the next call. */
const MAX_IN_FLIGHT = 8;

export interface InstanceBatcherDeps {
  readonly clock: Clock;
  /** Ends calls in flight. */
  readonly signal: AbortSignal;
  /** The provider's current batch size. */
  readonly maxBatchSize: () => number;
  /** Nodes that are probably looked up soon: they fill spare room in a call. */
  readonly companions: () => Iterable<NodeRef>;
  /** One result per node, in order. */
  readonly fetch: (nodes: readonly NodeRef[], options: ReadOptions) => Promise<readonly InstanceAnswer[]>;
  readonly tracing: Tracing;
}

/** One instance and the callers that wait for it. */
interface Question {
  readonly key: string;
  readonly node: NodeRef;
  readonly asking: Set<Asking>;
  /** undefined: not sent. */
  sent: { readonly atMs: number; readonly maxDataAgeMs: number } | undefined;
}

interface Asking {
  readonly askedAtMs: number;
  readonly maxDataAgeMs: number;
  readonly priority: Priority;
  readonly signal: AbortSignal;
  /** Span of the waiting work. */
  readonly span: Span | undefined;
  readonly answer: (answer: InstanceAnswer) => void;
}

/** Batches look-ups of single instances into few calls to one provider. */
export class InstanceBatcher {
  readonly #deps: InstanceBatcherDeps;
  readonly #cache: AnswerCache;
  /** In order of request. */
  readonly #pending = new Map<string, Question>();
  /** The latest call in flight by instance. */
  readonly #inFlightByKey = new Map<string, Question>();
  #inFlight = 0;
  #window: Timer | undefined;
  /** The pending requests have waited long enough. */
  #due = false;

  constructor(deps: InstanceBatcherDeps) {
    this.#deps = deps;
    this.#cache = new AnswerCache(deps.clock, deps.signal);
  }

  /** Resolves with data of at most the given age; rejects with the signal's reason. */
  ask(node: NodeRef, { maxDataAgeMs, priority = "high", signal }: ReadOptions): Promise<InstanceAnswer> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const key = keyOf(node);
    const cached = this.#cache.get(key, maxDataAgeMs);
    if (cached !== undefined) return Promise.resolve(cached);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#takeBack(key, asking);
        reject(signal.reason);
      };
      const asking: Asking = {
        askedAtMs: this.#deps.clock.monotonicMs(),
        maxDataAgeMs,
        priority,
        signal,
        span: this.#deps.tracing.current,
        answer: (answer) => {
          signal.removeEventListener("abort", onAbort);
          resolve(answer);
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#join(key, node, asking);
    });
  }

  #join(key: string, node: NodeRef, asking: Asking): void {
    const sent = this.#inFlightByKey.get(key);
    const waiting = this.#pending.get(key);
    if (waiting !== undefined) waiting.asking.add(asking);
    else if (sent !== undefined && mayJoin(sent, asking)) sent.asking.add(asking);
    else this.#pending.set(key, { key, node, asking: new Set([asking]), sent: undefined });
    this.#dispatch();
  }

  #takeBack(key: string, asking: Asking): void {
    this.#inFlightByKey.get(key)?.asking.delete(asking);
    const waiting = this.#pending.get(key);
    if (waiting?.asking.delete(asking) === true && waiting.asking.size === 0) this.#pending.delete(key);
  }

  #dispatch(): void {
    const size = Math.max(1, this.#deps.maxBatchSize());
    while (this.#inFlight < MAX_IN_FLIGHT && (this.#pending.size >= size || (this.#due && this.#pending.size > 0))) {
      void this.#send(this.#fill(this.#take(size), size));
    }
    if (this.#pending.size === 0) this.#due = false;
    else if (!this.#due && this.#window === undefined) {
      this.#window = this.#deps.clock.schedule(WINDOW_MS, () => this.#windowOver());
    }
  }

  #windowOver(): void {
    this.#window = undefined;
    this.#due = true;
    this.#dispatch();
  }

  /** The next call's requests: high priority first, then in order. */
  #take(size: number): readonly Question[] {
    const all = [...this.#pending.values()];
    const batch = [...all.filter(isUrgent), ...all.filter((question) => !isUrgent(question))].slice(0, size);
    for (const { key } of batch) this.#pending.delete(key);
    return batch;
  }

  /** Fills a call with high priority up to `size` with companions that are neither cached nor requested. */
  #fill(batch: readonly Question[], size: number): readonly Question[] {
    if (batch.length >= size || !batch.some(isUrgent)) return batch;
    const asked = new Set(batch.map(({ key }) => key));
    const filled = [...batch];
    for (const node of this.#deps.companions()) {
      const key = keyOf(node);
      const isKnown = asked.has(key) || this.#inFlightByKey.has(key) || this.#pending.has(key);
      if (isKnown || this.#cache.get(key, COMPANION_MAX_AGE_MS) !== undefined) continue;
      filled.push({ key, node, asking: new Set(), sent: undefined });
      if (filled.length === size) break;
    }
    return filled;
  }

  /** Never rejects. */
  async #send(batch: readonly Question[]): Promise<void> {
    const { clock, signal, fetch, tracing } = this.#deps;
    const maxDataAgeMs = Math.min(...batch.flatMap(({ asking }) => [...asking].map((one) => one.maxDataAgeMs)));
    const priority = batch.some(isUrgent) ? "high" : "low";
    for (const question of batch) {
      question.sent = { atMs: clock.monotonicMs(), maxDataAgeMs };
      this.#inFlightByKey.set(question.key, question);
    }
    this.#inFlight++;
    const nodes = batch.map(({ node }) => node);
    const call = (): Promise<readonly InstanceAnswer[]> => fetch(nodes, { signal, maxDataAgeMs, priority });
    const answers = await tracing.shared(spansOf(batch), call).catch((error: unknown) => {
      const failure = asProviderError(error);
      return nodes.map((): InstanceAnswer => ({ kind: "unknown", error: failure }));
    });
    this.#inFlight--;
    for (const [index, question] of batch.entries()) this.#settle(question, answers[index] ?? missing());
    this.#dispatch();
  }

  #settle(question: Question, answer: InstanceAnswer): void {
    const { key, node, sent } = question;
    if (this.#inFlightByKey.get(key) === question) this.#inFlightByKey.delete(key);
    this.#cache.put(key, answer);
    const readAtMs = this.#deps.clock.monotonicMs() - (dataAgeMs(answer) ?? 0);
    for (const asking of question.asking) {
      if (asking.signal.aborted) continue;
      const joinedLate = sent !== undefined && asking.askedAtMs > sent.atMs;
      // Old data is valid for requests from before the call; one that joined later may need newer data.
      if (joinedLate && readAtMs < asking.askedAtMs - asking.maxDataAgeMs) this.#join(key, node, asking);
      else asking.answer(answer);
    }
  }
}

/** A call in flight never serves a request with maximum age 0. */
function mayJoin({ sent }: Question, { maxDataAgeMs }: Asking): boolean {
  return sent !== undefined && maxDataAgeMs > 0 && sent.maxDataAgeMs <= maxDataAgeMs;
}

function isUrgent({ asking }: Question): boolean {
  return [...asking].some(({ priority }) => priority === "high");
}

/** The work that one call serves: its span links to all of them. */
function spansOf(batch: readonly Question[]): readonly Span[] {
  return batch.flatMap(({ asking }) => [...asking].flatMap(({ span }) => span ?? []));
}

/** A recreated Node, a new provider ID, or other declared labels or annotations make another request. */
function keyOf({ uid, providerId, name, labels, annotations }: NodeRef): string {
  return JSON.stringify([uid, providerId, name, labels, annotations]);
}

function missing(): InstanceAnswer {
  return { kind: "unknown", error: contractError("INVARIANT_BROKEN", "the response has no result for the node") };
}

/** Retention of results: at 15,000 Nodes they need tens of megabytes, and callers that share one come within seconds. */
const RETENTION_MS = 10_000;

interface Kept {
  readonly answer: InstanceAnswer;
  /** Time of the cloud's data. */
  readonly readAtMs: number;
  readonly keptAtMs: number;
}

/** Results by instance while they are fresh enough. */
export class AnswerCache {
  readonly #clock: Clock;
  /** In order of arrival. */
  readonly #kept = new Map<string, Kept>();
  #sweeping: Timer | undefined;

  /** @param signal ends the timer */
  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock;
    signal.addEventListener("abort", () => this.#sweeping?.cancel(), { once: true });
  }

  get size(): number {
    return this.#kept.size;
  }

  /** A result from data at most `maxDataAgeMs` old; never for 0, which requires a new read. */
  get(key: string, maxDataAgeMs: number): InstanceAnswer | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined || maxDataAgeMs <= 0) return undefined;
    return this.#clock.monotonicMs() - kept.readAtMs <= maxDataAgeMs ? kept.answer : undefined;
  }

  put(key: string, answer: InstanceAnswer): void {
    const ageMs = dataAgeMs(answer);
    if (ageMs === undefined) return;
    const nowMs = this.#clock.monotonicMs();
    const readAtMs = nowMs - ageMs;
    const before = this.#kept.get(key);
    if (before !== undefined && before.readAtMs > readAtMs) return;
    this.#kept.delete(key);
    this.#kept.set(key, { answer, readAtMs, keptAtMs: nowMs });
    this.#sweeping ??= this.#clock.schedule(RETENTION_MS, () => this.#sweep());
  }

  #sweep(): void {
    this.#sweeping = undefined;
    const nowMs = this.#clock.monotonicMs();
    for (const [key, { keptAtMs }] of this.#kept) {
      const leftMs = keptAtMs + RETENTION_MS - nowMs;
      if (leftMs > 0) {
        // At least a second: results of a burst are removed together.
        this.#sweeping = this.#clock.schedule(Math.max(leftMs, RETENTION_MS / 10), () => this.#sweep());
        return;
      }
      this.#kept.delete(key);
    }
  }
}

/** Age of the data when the result arrived; undefined: the result has none. */
function dataAgeMs(answer: InstanceAnswer): number | undefined {
  switch (answer.kind) {
    case "present":
      return Math.max(0, answer.witness.receivedAtMs - answer.readTimeMs);
    case "absent":
      return Math.max(0, answer.witness.receivedAtMs - answer.observeTimeMs);
    case "unknown":
    case "notOwned":
      return undefined;
  }
  return answer satisfies never;
}
