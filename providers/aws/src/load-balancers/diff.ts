/** The entries to add and to remove. */
export interface Difference<Item> {
  readonly added: readonly Item[];
  readonly removed: readonly Item[];
}

/** Compares by key; duplicates in `wanted` are added once. */
export function differenceOf<Item>(
  wanted: Iterable<Item>,
  present: Iterable<Item>,
  keyOf: (item: Item) => string,
): Difference<Item> {
  const desired = new Map([...wanted].map((item) => [keyOf(item), item]));
  const have = new Map([...present].map((item) => [keyOf(item), item]));
  return {
    added: [...desired].filter(([key]) => !have.has(key)).map(([, item]) => item),
    removed: [...have].filter(([key]) => !desired.has(key)).map(([, item]) => item),
  };
}

export function isEmpty({ added, removed }: Difference<unknown>): boolean {
  return added.length === 0 && removed.length === 0;
}

type Facts = Readonly<Record<string, string>>;

/** The desired entries that are missing or different. Other present entries are ignored. */
export function changedEntries(wanted: Facts, present: Facts): Facts {
  return Object.fromEntries(Object.entries(wanted).filter(([key, value]) => present[key] !== value));
}

/** Lists without order, equal. */
export function sameSet(left: readonly string[], right: readonly string[]): boolean {
  return isEmpty(differenceOf(left, right, (item) => item));
}
