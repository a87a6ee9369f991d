import { causesOf, messageOf } from "../util/errors.ts";
import { Lru } from "../util/lru.ts";
import type { Outcome } from "./result.ts";

/** How one reconcile went. */
export interface ReconcileRecord {
  readonly key: string;
  /** Of its lines in the log, and of its trace. */
  readonly reconcileId: string;
  /** When it ended, wall clock. */
  readonly endMs: number;
  readonly durationMs: number;
  readonly outcome: Outcome["kind"];
  /** What it threw; undefined: nothing. */
  readonly error: ErrorRecord | undefined;
}

export interface ErrorRecord {
  /** undefined: a fault of this program. */
  readonly code: string | undefined;
  readonly message: string;
}

/** Of one controller: some kilobytes, whatever the cluster's size. */
const RECENT = 100;
const FAILING = 200;
const MAX_MESSAGE = 500;

/** The last reconciles of a controller, and the last failure of each key that fails; in memory, bounded. */
export class ReconcileHistory {
  readonly #recent: ReconcileRecord[] = [];
  /** Of the next record, once there are RECENT of them. */
  #next = 0;
  readonly #failing = new Lru<string, ReconcileRecord>(FAILING);

  add(reconcile: Omit<ReconcileRecord, "outcome" | "error">, outcome: Outcome): void {
    const error = "error" in outcome ? describe(outcome.error) : undefined;
    const record: ReconcileRecord = { ...reconcile, outcome: outcome.kind, error };
    this.#recent[this.#next] = record;
    this.#next = (this.#next + 1) % RECENT;
    if (error !== undefined) this.#failing.set(record.key, record);
    else if (outcome.kind !== "aborted") this.#failing.delete(record.key);
  }

  /** Newest first. */
  recent(): readonly ReconcileRecord[] {
    return [...this.#recent.slice(this.#next), ...this.#recent.slice(0, this.#next)].toReversed();
  }

  /** Keys whose last reconcile failed, latest first. */
  failing(): readonly ReconcileRecord[] {
    return [...this.#failing.values()].toReversed();
  }
}

/** Errors of ours and of providers are made for people to read; they hold no secrets (telemetry/log-fields.ts). */
function describe(error: unknown): ErrorRecord {
  const code = causesOf(error).find(
    (cause) => cause instanceof Error && "code" in cause && typeof cause.code === "string",
  );
  const message = messageOf(error);
  return {
    code: code instanceof Error && "code" in code ? String(code.code) : undefined,
    message: message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)} …` : message,
  };
}
