import { ProviderError, isOfClass } from "../../provider/model/errors.ts";
import type { Source } from "../../runtime/source.ts";
import { causesOf } from "../../util/errors.ts";
import type { Workqueue } from "../../workqueue/queue.ts";
import { type ServiceRecord, acknowledgedOf, currentProviderOf } from "./record/record.ts";

/**
 * What ends the failure of a Service before its retry is due. `resource`: another Service releases an address, a name or quota.
 * `cloud`: another call shows that the cloud responds again.
 */
export type WaitsFor = "resource" | "cloud";

/** Reasons of the contract. */
const RESOURCE_REASONS: ReadonlySet<string> = new Set([
  "ADDRESS_IN_USE",
  "CIDR_CONFLICT",
  "DEPENDENCY_IN_USE",
  "NAME_TAKEN",
  "QUOTA_EXCEEDED",
]);

/** undefined: nothing that another Service can end. */
export function waitsFor(error: unknown): WaitsFor | undefined {
  const cause = causesOf(error).find((one) => one instanceof ProviderError);
  if (cause === undefined || cause.isClientThrottled) return undefined;
  if (RESOURCE_REASONS.has(cause.reason)) return "resource";
  return isOfClass(cause, "TRANSIENT") || isOfClass(cause, "OUTCOME_UNKNOWN") ? "cloud" : undefined;
}

/** The provider that may have released an address, a name or quota between the two records of one Service. */
export function releasedBy(before: ServiceRecord | undefined, after: ServiceRecord | undefined): string | undefined {
  const provider = currentProviderOf(before)?.provider;
  if (provider === undefined) return undefined;
  if (currentProviderOf(after)?.provider !== provider) return provider;
  const [was, is] = [acknowledgedOf(before), acknowledgedOf(after)];
  return was !== undefined && is !== undefined && was.specFingerprint !== is.specFingerprint ? provider : undefined;
}

interface Waiting {
  readonly provider: string;
  readonly what: WaitsFor;
}

interface Round {
  readonly keys: string[];
  /** Retried now; the next one follows when its reconcile ends. */
  current: string | undefined;
}

/**
 * Retries Services when what they wait for may have become available, instead of after their back-off. The Services of a provider are retried
 * one after the other, in the order in which they began to wait, so that one release costs each at most one attempt at a time.
 */
export class WaitingServices {
  /** In the order in which they began to wait. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #rounds = new Map<string, Round>();
  #queue: Pick<Workqueue, "add"> | undefined;

  /** Only gives access to the queue. */
  readonly source: Source = {
    name: "waiting services",
    ready: () => Promise.resolve(),
    start: (queue) => {
      this.#queue = queue;
      return () => (this.#queue = undefined);
    },
  };

  /**
   * Called at the end of each reconcile.
   * @param waits undefined: it succeeded, or waits for nothing that others release
   * @param released see {@link releasedBy}
   */
  ended(key: string, provider: string, waits: WaitsFor | undefined, released: string | undefined): void {
    const before = this.#waiting.get(key);
    if (waits === undefined) this.#waiting.delete(key);
    else this.#waiting.set(key, { provider, what: waits });
    if (released !== undefined) this.#begin(released, "resource");
    if (before?.what === "cloud" && waits !== "cloud") this.#begin(before.provider, "cloud");
    this.#continue(key, waits);
  }

  /** A round that runs already is extended: what was tried before the release is tried again. */
  #begin(provider: string, what: WaitsFor): void {
    const round = this.#rounds.get(provider) ?? { keys: [], current: undefined };
    for (const [key, waiting] of this.#waiting) {
      if (waiting.provider === provider && waiting.what === what && !round.keys.includes(key)) round.keys.push(key);
    }
    this.#rounds.set(provider, round);
    if (round.current === undefined) this.#next(provider, round);
  }

  #continue(key: string, waits: WaitsFor | undefined): void {
    for (const [provider, round] of this.#rounds) {
      if (round.current !== key) continue;
      // The cloud is still unavailable: the others would fail, too.
      if (waits === "cloud") round.keys.length = 0;
      this.#next(provider, round);
    }
  }

  #next(provider: string, round: Round): void {
    round.current = round.keys.splice(0, round.keys.findIndex((key) => this.#waiting.has(key)) + 1).at(-1);
    if (round.current === undefined) this.#rounds.delete(provider);
    else this.#queue?.add(round.current);
  }
}
