/** The one of `known` that `name` is most likely a misspelling of. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  return [...known].find((candidate) => distance(candidate, name) <= 2);
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
