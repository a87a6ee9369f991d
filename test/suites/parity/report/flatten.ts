/** The leaves of a value as `.path` and text, in the order of their keys; undefined values are left out. */
export function flatten(value: unknown, path = ""): readonly (readonly [string, string])[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((element, index) => flatten(element, `${path}[${index}]`));
  if (typeof value === "object" && value !== null) {
    return Object.entries(value)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .flatMap(([key, inner]) => flatten(inner, `${path}.${key}`));
  }
  return [[path, typeof value === "string" ? value : JSON.stringify(value)]];
}
