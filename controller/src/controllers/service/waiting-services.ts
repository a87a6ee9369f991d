import type { Source } from "../../runtime/source.ts";
import type { Workqueue } from "../../workqueue/queue.ts";
import type { WaitsFor } from "./failure.ts";

/** The end of a reconcile. */
export interface Ended {
  readonly provider: string;
  /** undefined: it succeeded, or waits for nothing that others release. */
  readonly waits: WaitsFor | undefined;
  /** See releasedBy() of the record. */
  readonly released: readonly string[];
  /** The provider has not finished the change: nothing is released yet. */
  readonly isChanging: boolean;
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
  /** By Service: providers that release something when its change in progress ends. */
  readonly #releases = new Map<string, readonly string[]>();
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

  /** Called at the end of each reconcile. */
  ended(key: string, { provider, waits, released, isChanging }: Ended): void {
    const before = this.#waiting.get(key);
    if (waits === undefined) this.#waiting.delete(key);
    else this.#waiting.set(key, { provider, what: waits });
    for (const one of this.#released(key, released, isChanging)) this.#begin(one, "resource");
    if (before?.what === "cloud" && waits !== "cloud") this.#begin(before.provider, "cloud");
    this.#continue(key, waits);
  }

  /** What is released now. */
  #released(key: string, released: readonly string[], isChanging: boolean): readonly string[] {
    const all = [...new Set([...(this.#releases.get(key) ?? []), ...released])];
    if (isChanging && all.length > 0) this.#releases.set(key, all);
    else this.#releases.delete(key);
    return isChanging ? [] : all;
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
