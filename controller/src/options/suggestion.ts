/** In letters. */
const MAX_DISTANCE = 2;

/** The name in `known` that differs in case and dashes only, or else the nearest. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const candidates = [...known];
  const same = candidates.find((candidate) => plain(candidate) === plain(name));
  if (same !== undefined) return same;
  // Of a path, only the last name counts. Two different letters of two are too many.
  const limit = Math.min(MAX_DISTANCE, Math.floor((name.split(".").at(-1) ?? "").length / 2));
  const distances = candidates.map((candidate) => ({ candidate, far: distance(candidate, name) }));
  return distances.filter(({ far }) => far <= limit).toSorted((left, right) => left.far - right.far)[0]?.candidate;
}

/** The same for `leaderElect`, `leader-elect` and `LeaderElect`. */
export function plain(name: string): string {
  return name.replaceAll(/[-_]/g, "").toLowerCase();
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
