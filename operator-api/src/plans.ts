/** What would be written of what is observed. */
export interface PlansPage {
  /** False: everything that is planned is done (--mode). */
  readonly observes: boolean;
  /** Everything was looked at, nothing waits to be, and no look failed: the numbers below can be relied on. */
  readonly settled: boolean;
  /** Writes by what they do to what is there. */
  readonly pending: Readonly<Record<Effect, number>>;
  /** Keys whose last reconcile failed. */
  readonly undecided: readonly { readonly controller: string; readonly key: string; readonly provider: string }[];
  /** Oldest first. */
  readonly plans: readonly ShownPlan[];
}

/** What is to be written of one key. */
export interface ShownPlan {
  readonly controller: string;
  readonly key: string;
  /** "": nobody's. */
  readonly provider: string;
  /** The same for the same plan. */
  readonly digest: string;
  readonly since: string;
  readonly writes: readonly ShownWrite[];
}

/** One write that was not made. Has further fields, by target. */
export interface ShownWrite {
  readonly target: "kubernetes" | "provider";
  readonly effect: Effect;
  /** One line for people. */
  readonly summary: string;
}

/**
 * `addition`: nothing that is there changes. `change`: something else comes in its place, or it is not known. `removal`: something that
 * is there goes.
 */
export type Effect = "addition" | "change" | "removal";
