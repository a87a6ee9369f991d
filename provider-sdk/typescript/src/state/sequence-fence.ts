import { ProviderError } from "../results/errors.ts";
import { LruMap } from "./lru.ts";

/** Objects whose newest change is remembered. */
const maxObjects = 50_000;

/**
 * Refuses changes that were overtaken on their way: a leader that did not know yet that it had been replaced must not undo
 * what its successor did. Contract: ChangeContext.sequence.
 */
export class SequenceFence {
  readonly #newest: LruMap<bigint>;

  constructor(nowMs: () => number) {
    this.#newest = new LruMap({ maxEntries: maxObjects, nowMs });
  }

  /** Why a change comes too late; undefined if it does not. 0 is not compared. */
  overtaken(object: string, sequence: bigint): ProviderError | undefined {
    const newest = this.#newest.get(object);
    if (newest === undefined || sequence === 0n || sequence >= newest) return undefined;
    return new ProviderError(
      "STALE_GENERATION",
      `the change has sequence ${sequence}, but ${newest} came for the same object already; read it again`,
      { metadata: { applied_sequence: String(newest) } },
    );
  }

  /** A change is about to be carried out. If it fails now, something of it may have taken effect all the same. */
  begun(object: string, sequence: bigint): void {
    if (sequence > (this.#newest.get(object) ?? 0n)) this.#newest.set(object, sequence);
  }
}
