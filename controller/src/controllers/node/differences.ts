import type { Gauge } from "prom-client";
import type { Difference, Field } from "./plan/field-policies.ts";

/** What each Node does not show of what its cloud says, so that it is counted while it lasts and told once. */
export class Differences {
  readonly #gauge: Gauge<"field">;
  readonly #standing = new Map<string, readonly Difference[]>();

  constructor(gauge: Gauge<"field">) {
    this.#gauge = gauge;
  }

  /** Takes the place of what was known of the Node; answers what is new and has to be told. */
  replace(key: string, differences: readonly Difference[]): readonly Difference[] {
    const before = this.#standing.get(key) ?? [];
    if (before.length === 0 && differences.length === 0) return [];
    for (const field of fieldsOf(before)) this.#gauge.dec({ field });
    for (const field of fieldsOf(differences)) this.#gauge.inc({ field });
    if (differences.length === 0) this.#standing.delete(key);
    else this.#standing.set(key, differences);
    return differences.filter(({ message }) => !before.some((told) => told.message === message));
  }

  /** The Node is gone. */
  forget(key: string): void {
    this.replace(key, []);
  }
}

function fieldsOf(differences: readonly Difference[]): ReadonlySet<Field> {
  return new Set(differences.map(({ field }) => field));
}
