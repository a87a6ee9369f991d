/** Numbers from 0 to 1 that depend on the seed and the name alone (mulberry32 over an FNV-1a hash). */
export const seededRandom = (seed: number, name: string): (() => number) => {
  let state = 0x811c9dc5 ^ seed;
  for (const byte of Buffer.from(name)) state = Math.imul(state ^ byte, 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** A new array in an order that depends on the seed alone. */
export const shuffled = <Item>(items: readonly Item[], seed: number): readonly Item[] => {
  const random = seededRandom(seed, "order");
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((one, other) => one.rank - other.rank)
    .map(({ item }) => item);
};
