import type { Difference } from "./diff.ts";

/** How entries are changed, and which error of `add` means that there is no room for them. */
export interface ExchangeSteps<Item> {
  /** Answers how many of the items are in place now. */
  readonly add: (items: readonly Item[]) => Promise<number>;
  readonly remove: (items: readonly Item[]) => Promise<void>;
  readonly isFull: (error: unknown) => boolean;
}

/** A change of entries. */
export interface Exchange<Item> extends Difference<Item> {
  /** Number of the entries that stay. */
  readonly kept: number;
  /** True: no entries are wanted at all. */
  readonly wantsNone: boolean;
}

/**
 * Adds entries, then removes the others. If there is no room for both, alternates: removes some, and adds as many. As long as there are two entries,
 * at least one remains at each step, because without any there is no traffic. The last one remains until another one is in place.
 */
export async function exchange<Item>(
  { added, removed, kept, wantsNone }: Exchange<Item>,
  { add, remove, isFull }: ExchangeSteps<Item>,
): Promise<void> {
  let [waiting, old, inPlace] = [added, removed, kept];
  let full = await addWaiting();
  while (full !== undefined) {
    if (old.length === 0) throw full;
    const count = inPlace > 0 ? Math.ceil(old.length / 2) : Math.max(1, Math.floor(old.length / 2));
    const [gone, fresh] = [old.slice(0, count), waiting.slice(0, count)];
    const isLast = inPlace === 0 && old.length === count;
    await remove(gone);
    inPlace += await addInPlaceOf(isLast ? gone : [], fresh);
    [waiting, old] = [waiting.slice(count), old.slice(count)];
    full = await addWaiting();
  }
  if (old.length > 0 && (inPlace > 0 || wantsNone)) await remove(old);

  /** Answers the error if there is no room. */
  async function addWaiting(): Promise<unknown> {
    if (waiting.length === 0) return undefined;
    try {
      inPlace += await add(waiting);
      return undefined;
    } catch (error) {
      if (isFull(error)) return error;
      throw error;
    }
  }

  /** If nothing can be added, the removed ones come back. */
  async function addInPlaceOf(gone: readonly Item[], fresh: readonly Item[]): Promise<number> {
    let count = 0;
    try {
      count = await add(fresh);
      return count;
    } finally {
      if (count === 0 && gone.length > 0) await add(gone);
    }
  }
}
