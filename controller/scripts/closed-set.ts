/** Values of which there are no others, each with its meaning; "": the name says it. */
export type ClosedSet = ReadonlyMap<string, string>;

/** All of `Value`: the compiler reports a missing value and one that no longer exists. */
export function closed<Value extends string>(values: Readonly<Record<Value, string>>): ClosedSet {
  return new Map(Object.entries<string>(values));
}
