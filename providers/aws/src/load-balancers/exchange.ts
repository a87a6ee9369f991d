import type { Difference } from "./diff.ts";

/** How entries are changed, and which error of `add` means that there is no room for them. */
export interface ExchangeSteps<Item> {
  readonly add: (items: readonly Item[]) => Promise<void>;
  readonly remove: (items: readonly Item[]) => Promise<void>;
  readonly isFull: (error: unknown) => boolean;
}

/**
 * Adds entries, then removes the others. If there is no room for both, alternates: removes some, and adds as many. As long as there are two entries,
 * at least one remains at each step, because without any there is no traffic.
 * @param kept number of the entries that stay
 */
export async function exchange<Item>(
  { added, removed }: Difference<Item>,
  kept: number,
  { add, remove, isFull }: ExchangeSteps<Item>,
): Promise<void> {
  let [waiting, old, inPlace] = [added, removed, kept];
  let full = await addOrFull(waiting);
  while (full !== undefined) {
    if (old.length === 0) throw full;
    const count = inPlace > 0 ? Math.ceil(old.length / 2) : Math.max(1, Math.floor(old.length / 2));
    const [gone, fresh] = [old.slice(0, count), waiting.slice(0, count)];
    await remove(gone);
    try {
      await add(fresh);
    } catch (error) {
      // Nothing else would be left.
      if (inPlace === 0 && old.length === count) await add(gone);
      throw error;
    }
    [waiting, old, inPlace] = [waiting.slice(count), old.slice(count), inPlace + fresh.length];
    full = await addOrFull(waiting);
  }
  if (old.length > 0) await remove(old);

  async function addOrFull(items: readonly Item[]): Promise<unknown> {
    if (items.length === 0) return undefined;
    try {
      await add(items);
      return undefined;
    } catch (error) {
      if (isFull(error)) return error;
      throw error;
    }
  }
}
