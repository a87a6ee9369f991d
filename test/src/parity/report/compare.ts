import type { Explanation } from "./explanations.ts";

/** One place in which the two sides are not alike. */
export interface Difference {
  readonly place: string;
  /** Undefined: there is nothing at this place. */
  readonly upstream: string | undefined;
  readonly ours: string | undefined;
}

/** The outcome of one scenario. */
export interface Verdict {
  /** Each difference with the row that explains it. */
  readonly explained: readonly { readonly difference: Difference; readonly id: string }[];
  readonly unexplained: readonly Difference[];
  /** Rows that were claimed and explained nothing. */
  readonly idle: readonly string[];
}

type Facts = ReadonlyMap<string, string>;

/** Every place in which the two differ, sorted. */
export function differencesOf(upstream: Facts, ours: Facts): readonly Difference[] {
  const places = [...new Set([...upstream.keys(), ...ours.keys()])].toSorted();
  return places
    .map((place) => ({ place, upstream: upstream.get(place), ours: ours.get(place) }))
    .filter((difference) => difference.upstream !== difference.ours);
}

/** Puts each difference down to one of the claimed rows; a row explains what its explanation says, no more. */
export function judge(
  differences: readonly Difference[],
  claims: readonly string[],
  explanations: Readonly<Record<string, Explanation>>,
): Verdict {
  const judged = differences.map((difference) => ({
    difference,
    id: claims.find((claim) => explanations[claim]?.some((explains) => explains(difference))),
  }));
  const explained = judged.flatMap(({ difference, id }) => (id === undefined ? [] : [{ difference, id }]));
  const used = new Set(explained.map(({ id }) => id));
  return {
    explained,
    unexplained: judged.filter(({ id }) => id === undefined).map(({ difference }) => difference),
    idle: claims.filter((claim) => !used.has(claim)),
  };
}
