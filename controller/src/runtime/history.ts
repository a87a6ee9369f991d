import { isApiError } from "../kube/errors.ts";
import { type ProviderErrorClass, isProviderError } from "../provider/model/errors.ts";
import { causesOf, messageOf } from "../util/errors.ts";
import { isRecord } from "../util/json.ts";
import { Lru } from "../util/lru.ts";
import { beginningOf, flatText } from "../util/text.ts";
import type { Outcome, Why } from "./reconciler.ts";

/** How one reconcile went. */
export interface ReconcileRecord {
  readonly key: string;
  /** Of its lines in the log, and of its trace. */
  readonly reconcileID: string;
  /** When it ended, wall clock. */
  readonly endMs: number;
  readonly durationMs: number;
  readonly outcome: Outcome["kind"];
  /** What it threw; undefined: nothing. */
  readonly error: ErrorRecord | undefined;
  /** What stands in the way, where the reconciler or what it threw says so. */
  readonly why: Why | undefined;
}

export interface ErrorRecord {
  /** undefined: a fault of this program. */
  readonly code: string | undefined;
  readonly message: string;
  /** Who said so; undefined: nobody else. */
  readonly from: ErrorSource | undefined;
}

/** The other side that a reconcile failed on. */
export type ErrorSource =
  | { readonly kind: "apiServer"; readonly code: string }
  | {
      readonly kind: "provider";
      readonly code: string;
      /** "": the transport says it. */
      readonly reason: string;
      readonly class: ProviderErrorClass;
      /** Our own budget of calls let others go first. */
      readonly isClientThrottled: boolean;
    };

/** Of one controller: some kilobytes, whatever the cluster's size. */
const RECENT = 100;

/** Of one controller: some 200 bytes a key, more with an error. Of keys that are well fewer will do: there is nothing to tell of them. */
const TROUBLED = 20_000;
const WELL = 2000;
const MAX_MESSAGE = 500;

/** The last reconciles of a controller, and the last one of each key; in memory, bounded. */
export class ReconcileHistory {
  readonly #recent: ReconcileRecord[] = [];
  /** Of the next record, once there are RECENT of them. */
  #next = 0;
  readonly #troubled = new Lru<string, ReconcileRecord>(TROUBLED);
  readonly #well = new Lru<string, ReconcileRecord>(WELL);

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

  /** Newest first. */
  recent(): readonly ReconcileRecord[] {
    return [...this.#recent.slice(this.#next), ...this.#recent.slice(0, this.#next)].toReversed();
  }

  /** The last one of that key that was not cut short; undefined: none, or it is long ago. */
  last(key: string): ReconcileRecord | undefined {
    return this.#troubled.get(key) ?? this.#well.get(key);
  }

  #keep(record: ReconcileRecord): void {
    const isTroubled = record.error !== undefined || record.why !== undefined || record.outcome === "planned";
    const [to, from] = isTroubled ? [this.#troubled, this.#well] : [this.#well, this.#troubled];
    from.delete(record.key);
    to.set(record.key, record);
  }

  /** Keys whose last reconcile failed, latest first. */
  failing(): readonly ReconcileRecord[] {
    const failing = [...this.#troubled.values()].filter(({ error }) => error !== undefined);
    // Those that were looked up lie where they were put last by that.
    return failing.toReversed().toSorted((left, right) => right.endMs - left.endMs);
  }
}

/** Errors of ours and of providers are made for people to read; they hold no secrets (telemetry/log.ts). */
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

/** The innermost that is known: what is above it tells the same in other words. */
function sourceOf(error: unknown): ErrorSource | undefined {
  for (const cause of causesOf(error).toReversed()) {
    if (isApiError(cause)) return { kind: "apiServer", code: cause.code };
    if (!isProviderError(cause)) continue;
    const { code, reason, class: errorClass, isClientThrottled } = cause;
    return { kind: "provider", code, reason, class: errorClass, isClientThrottled };
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

interface Count {
  readonly kind: string;
  readonly count: number;
}

/** Failures of one kind in a row, by key: the queue counts only those whose wait it chooses itself. */
export class FailureCounts {
  readonly #counts = new Map<string, Count>();

  /** One more; answers how many that makes. */
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
