/** Names with more letters wrong are other names. */
const MAX_DISTANCE = 2;

/** The one of `known` that `name` is most likely a misspelling of. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const limit = Math.min(MAX_DISTANCE, Math.floor(name.replaceAll("-", "").length / 2));
  const distances = known.map((candidate) => ({ candidate, far: distance(candidate, name) }));
  return distances.filter(({ far }) => far <= limit).toSorted((left, right) => left.far - right.far)[0]?.candidate;
}

/** Levenshtein distance. */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [i, letter] of left.split("").entries()) {
    const next = [i + 1];
    for (const [j, other] of right.split("").entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
