import type { Span, Tracing } from "../../telemetry/tracing.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import type { Priority } from "../../util/semaphore.ts";
import type { ReadOptions } from "../model/client.ts";
import { asProviderError, contractError } from "../model/errors.ts";
import type { InstanceResult, NodeRef } from "../model/instance.ts";

/** How long a question waits for others: long enough for all workers to ask, short against any cloud call. */
const WINDOW_MS = 15;

/** How long the answer about a companion is of use: fuller calls ahead of that would be asked again. */
const COMPANION_MAX_AGE_MS = 1000;

/** Calls under way at once. More would not be faster: questions that wait make the next call larger. */
const MAX_IN_FLIGHT = 8;

export interface InstanceBatcherDeps {
  readonly clock: Clock;
  /** Ends calls under way. */
  readonly signal: AbortSignal;
  /** Most questions of one call, as the provider says at present. */
  readonly maxBatchSize: () => number;
  /** Nodes that will probably be asked about soon: they fill the room left in a call, so that later questions need none. */
  readonly companions: () => Iterable<NodeRef>;
  /** One answer for each node, in order. */
  readonly fetch: (nodes: readonly NodeRef[], options: ReadOptions) => Promise<readonly InstanceResult[]>;
  readonly tracing: Tracing;
}

/** One machine asked about and all who wait for the answer. */
interface Question {
  readonly key: string;
  readonly node: NodeRef;
  readonly asking: Set<Asking>;
  /** undefined: not sent yet. */
  sent: { readonly atMs: number; readonly maxDataAgeMs: number } | undefined;
}

interface Asking {
  readonly askedAtMs: number;
  readonly maxDataAgeMs: number;
  readonly priority: Priority;
  readonly signal: AbortSignal;
  /** Of the work that waits for the answer. */
  readonly span: Span | undefined;
  readonly answer: (answer: InstanceResult) => void;
}

/** Turns questions about single machines into few calls to one provider. */
export class InstanceBatcher {
  readonly #deps: InstanceBatcherDeps;
  readonly #cache: AnswerCache;
  /** In the order of asking. */
  readonly #pending = new Map<string, Question>();
  /** Of several under way about one machine the latest. */
  readonly #underWay = new Map<string, Question>();
  #inFlight = 0;
  #window: Timer | undefined;
  /** What is pending has waited long enough and goes as soon as a call may. */
  #due = false;

  constructor(deps: InstanceBatcherDeps) {
    this.#deps = deps;
    this.#cache = new AnswerCache(deps.clock, deps.signal);
  }

  /** Resolves with an answer from data as fresh as asked, if the provider keeps to that; rejects with the signal's reason. */
  ask(node: NodeRef, { maxDataAgeMs, priority = "high", signal }: ReadOptions): Promise<InstanceResult> {
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
    const underWay = this.#underWay.get(key);
    const waiting = this.#pending.get(key);
    if (waiting !== undefined) waiting.asking.add(asking);
    else if (underWay !== undefined && mayJoin(underWay, asking)) underWay.asking.add(asking);
    else this.#pending.set(key, { key, node, asking: new Set([asking]), sent: undefined });
    this.#dispatch();
  }

  #takeBack(key: string, asking: Asking): void {
    this.#underWay.get(key)?.asking.delete(asking);
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

  /** The next call's questions: those that matter more first, then in the order of asking. */
  #take(size: number): readonly Question[] {
    const all = [...this.#pending.values()];
    const batch = [...all.filter(isUrgent), ...all.filter((question) => !isUrgent(question))].slice(0, size);
    for (const { key } of batch) this.#pending.delete(key);
    return batch;
  }

  /** Adds companions of urgent questions up to `size`: those not known, not asked about and not waiting. */
  #fill(batch: readonly Question[], size: number): readonly Question[] {
    if (batch.length >= size || !batch.some(isUrgent)) return batch;
    const asked = new Set(batch.map(({ key }) => key));
    const filled = [...batch];
    for (const node of this.#deps.companions()) {
      const key = keyOf(node);
      const isKnown = asked.has(key) || this.#underWay.has(key) || this.#pending.has(key);
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
      this.#underWay.set(question.key, question);
    }
    this.#inFlight++;
    const nodes = batch.map(({ node }) => node);
    const call = (): Promise<readonly InstanceResult[]> => fetch(nodes, { signal, maxDataAgeMs, priority });
    const answers = await tracing.shared(spansOf(batch), call).catch((error: unknown) => {
      const failure = asProviderError(error);
      return nodes.map((): InstanceResult => ({ kind: "unknown", error: failure }));
    });
    this.#inFlight--;
    for (const [index, question] of batch.entries()) this.#settle(question, answers[index] ?? unanswered());
    this.#dispatch();
  }

  #settle(question: Question, answer: InstanceResult): void {
    const { key, node, sent } = question;
    if (this.#underWay.get(key) === question) this.#underWay.delete(key);
    this.#cache.put(key, answer);
    const readAtMs = this.#deps.clock.monotonicMs() - (dataAgeMs(answer) ?? 0);
    for (const asking of question.asking) {
      if (asking.signal.aborted) continue;
      const joinedLate = sent !== undefined && asking.askedAtMs > sent.atMs;
      // Old data answers whoever asked before the call; one who joined a call under way may have wanted newer.
      if (joinedLate && readAtMs < asking.askedAtMs - asking.maxDataAgeMs) this.#join(key, node, asking);
      else asking.answer(answer);
    }
  }
}

/** A look that was begun before the question never answers one for "now". */
function mayJoin({ sent }: Question, { maxDataAgeMs }: Asking): boolean {
  return sent !== undefined && maxDataAgeMs > 0 && sent.maxDataAgeMs <= maxDataAgeMs;
}

function isUrgent({ asking }: Question): boolean {
  return [...asking].some(({ priority }) => priority === "high");
}

/** Whom one call serves: it is one span, linked to all who wait for it. */
function spansOf(batch: readonly Question[]): readonly Span[] {
  return batch.flatMap(({ asking }) => [...asking].flatMap(({ span }) => span ?? []));
}

/**
 * A Node made anew under its old name, one whose provider ID came to be known, or one with other labels or annotations that its provider
 * declared is another question.
 */
function keyOf({ uid, providerId, name, labels, annotations }: NodeRef): string {
  return JSON.stringify([uid, providerId, name, labels, annotations]);
}

function unanswered(): InstanceResult {
  return { kind: "unknown", error: contractError("INVARIANT_BROKEN", "the node got no answer") };
}

/**
 * Answers are dropped this long after they came, whoever might still want them: at 15,000 Nodes they are tens of megabytes. Who shares one,
 * asks within moments: both controllers of Nodes that wake for the same reason, a Node that is tried again.
 */
const RETENTION_MS = 10_000;

interface Kept {
  readonly answer: InstanceResult;
  /** When the cloud was read. */
  readonly readAtMs: number;
  readonly keptAtMs: number;
}

/** Answers that say something about a machine, for as long as they are fresh enough for whoever asks. */
export class AnswerCache {
  readonly #clock: Clock;
  /** In the order in which they came. */
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

  /** An answer from data at most `maxDataAgeMs` old. Never one for 0, which asks for a new look. */
  get(key: string, maxDataAgeMs: number): InstanceResult | undefined {
    const kept = this.#kept.get(key);
    if (kept === undefined || maxDataAgeMs <= 0) return undefined;
    return this.#clock.monotonicMs() - kept.readAtMs <= maxDataAgeMs ? kept.answer : undefined;
  }

  put(key: string, answer: InstanceResult): void {
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
        // At least a while: those of a burst go together.
        this.#sweeping = this.#clock.schedule(Math.max(leftMs, RETENTION_MS / 10), () => this.#sweep());
        return;
      }
      this.#kept.delete(key);
    }
  }
}

/** How old the data of an answer was when it arrived; undefined for an answer that rests on none. */
function dataAgeMs(answer: InstanceResult): number | undefined {
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
