import { isApiError } from "../kube/errors.ts";
import { type ProviderErrorClass, isProviderError } from "../provider/model/errors.ts";
import type { FailureReason } from "../provider/model/failure-reason.ts";
import { causesOf, messageOf } from "../util/errors.ts";
import { isRecord } from "../util/json.ts";
import { Lru } from "../util/lru.ts";
import { beginningOf, flatText } from "../util/text.ts";
import type { Outcome, Why } from "./reconciler.ts";

export interface ReconcileRecord {
  readonly key: string;
  readonly reconcileID: string;
  /** When it ended, wall clock. */
  readonly endMs: number;
  readonly durationMs: number;
  readonly outcome: Outcome["kind"];
  readonly error: ErrorRecord | undefined;
  /** What blocks the key, if the reconciler or its error reports it. */
  readonly why: Why | undefined;
}

export interface ErrorRecord {
  readonly code: string | undefined;
  readonly message: string;
  readonly from: ErrorSource | undefined;
}

export type ErrorSource =
  | { readonly kind: "apiServer"; readonly code: string }
  | {
      readonly kind: "provider";
      readonly code: string;
      readonly reason: string;
      readonly class: ProviderErrorClass;
      /** Our call budget rejected the call in favor of others. */
      readonly isClientThrottled: boolean;
      readonly failureReason: FailureReason | undefined;
    };

/** For one controller: some kilobytes, independent of the cluster size. */
const RECENT = 100;

/** For one controller: some 200 bytes per key, more with an error. Keys without problems need less history. */
const FAILING = 20_000;
const HEALTHY = 2000;
const MAX_MESSAGE = 500;

/** The last reconciles of a controller, and the last one of each key. In memory and bounded. */
export class ReconcileHistory {
  readonly #recent: ReconcileRecord[] = [];
  #next = 0;
  readonly #failing = new Lru<string, ReconcileRecord>(FAILING);
  readonly #healthy = new Lru<string, ReconcileRecord>(HEALTHY);

  add(reconcile: Omit<ReconcileRecord, "outcome" | "error" | "why">, outcome: Outcome): ReconcileRecord {
    const error = "error" in outcome ? describe(outcome.error) : undefined;
    const { key, endMs, durationMs } = reconcile;
    const reconcileID = flatText(reconcile.reconcileID);
    const why = whyOf(outcome);
    const record: ReconcileRecord = { key, reconcileID, endMs, durationMs, outcome: outcome.kind, error, why };
    if (outcome.kind !== "aborted") this.#keep(record);
    this.#recent[this.#next] = record;
    this.#next = (this.#next + 1) % RECENT;
    return record;
  }

  recent(): readonly ReconcileRecord[] {
    return [...this.#recent.slice(this.#next), ...this.#recent.slice(0, this.#next)].toReversed();
  }

  /** The last one of that key that was not canceled; undefined: none, or too long ago. */
  last(key: string): ReconcileRecord | undefined {
    return this.#failing.get(key) ?? this.#healthy.get(key);
  }

  #keep(record: ReconcileRecord): void {
    const isFailing = record.error !== undefined || record.why !== undefined || record.outcome === "planned";
    const [to, from] = isFailing ? [this.#failing, this.#healthy] : [this.#healthy, this.#failing];
    from.delete(record.key);
    to.set(record.key, record);
  }

  /** Keys whose last reconcile failed, latest first. */
  failing(): readonly ReconcileRecord[] {
    const failing = [...this.#failing.values()].filter(({ error }) => error !== undefined);
    // A lookup moves a key in the LRU.
    return failing.toReversed().toSorted((left, right) => right.endMs - left.endMs);
  }
}

/** Messages of our errors and of providers contain no secrets (telemetry/log.ts). */
function describe(error: unknown): ErrorRecord {
  const code = causesOf(error).find(
    (cause) => cause instanceof Error && "code" in cause && typeof cause.code === "string",
  );
  return {
    code: code instanceof Error && "code" in code ? String(code.code) : undefined,
    message: flatText(beginningOf(messageOf(error), MAX_MESSAGE)),
    from: sourceOf(error),
  };
}

/** The innermost known error: outer ones only add context. */
function sourceOf(error: unknown): ErrorSource | undefined {
  for (const cause of causesOf(error).toReversed()) {
    if (isApiError(cause)) return { kind: "apiServer", code: cause.code };
    if (!isProviderError(cause)) continue;
    const { code, reason, class: errorClass, isClientThrottled, failureReason } = cause;
    return { kind: "provider", code, reason, class: errorClass, isClientThrottled, failureReason };
  }
  return undefined;
}

function whyOf(outcome: Outcome): Why | undefined {
  const why = outcome.kind === "requeue_after" ? outcome.why : whyThrown(outcome);
  return why === undefined ? undefined : { ...why, message: beginningOf(why.message, MAX_MESSAGE) };
}

function whyThrown(outcome: Outcome): Why | undefined {
  if (!("error" in outcome)) return undefined;
  for (const cause of causesOf(outcome.error)) {
    const why = cause instanceof Error && "why" in cause ? cause.why : undefined;
    if (isWhy(why)) return why;
  }
  return undefined;
}

function isWhy(value: unknown): value is Why {
  return isRecord(value) && typeof value["reason"] === "string" && typeof value["message"] === "string";
}

/** Consecutive failures of one kind by key. The queue counts only failures that it backs off itself. */
export class FailureCounts {
  readonly #counts = new Map<string, { readonly kind: string; readonly count: number }>();

  failed(key: string, kind: string): number {
    const earlier = this.#counts.get(key);
    const count = earlier?.kind === kind ? earlier.count + 1 : 1;
    this.#counts.set(key, { kind, count });
    return count;
  }

  succeeded(key: string): void {
    this.#counts.delete(key);
  }
}
