import type { Claim } from "../scenario.ts";
import type { Difference, Explanation } from "./difference.ts";

/** The outcome of one scenario. */
export interface Classification {
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

/** Attributes each difference to one of the claimed rows; a row explains only what its explanation names. */
export function classify(
  differences: readonly Difference[],
  claims: readonly Claim[],
  explanations: Readonly<Record<string, Explanation>>,
): Classification {
  const classified = differences.map((difference) => {
    const claim = claims.find((one) => explains(one, difference, explanations));
    return { difference, id: claim === undefined ? undefined : idOf(claim) };
  });
  const explained = classified.flatMap(({ difference, id }) => (id === undefined ? [] : [{ difference, id }]));
  const used = new Set(explained.map(({ id }) => id));
  return {
    explained,
    unexplained: classified.filter(({ id }) => id === undefined).map(({ difference }) => difference),
    idle: claims
      .filter((claim) => typeof claim === "string" || claim.sometimes !== true)
      .map(idOf)
      .filter((id) => !used.has(id)),
  };
}

export function idOf(claim: Claim): string {
  return typeof claim === "string" ? claim : claim.id;
}

function explains(claim: Claim, difference: Difference, explanations: Readonly<Record<string, Explanation>>): boolean {
  if (typeof claim !== "string") return claim.explains.test(difference.place);
  return explanations[claim]?.some((matches) => matches(difference)) ?? false;
}
