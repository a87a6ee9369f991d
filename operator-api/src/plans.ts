/** What would be written of what is observed. */
export interface PlanReport {
  /** False: everything that is planned is done (--mode). */
  readonly observing: boolean;
  /** Everything was looked at, nothing waits to be, and no look failed: the numbers below can be relied on. */
  readonly complete: boolean;
  /** Writes by what they do to what is there. */
  readonly pending: Readonly<Record<WriteAction, number>>;
  /** Keys whose last reconcile failed. */
  readonly failedKeys: readonly { readonly controller: string; readonly key: string; readonly provider: string }[];
  /** Oldest first. */
  readonly plans: readonly PlannedReconcile[];
}

/** What is to be written of one key. */
export interface PlannedReconcile {
  readonly controller: string;
  readonly key: string;
  /** "": nobody's. */
  readonly provider: string;
  /** The same for the same plan. */
  readonly digest: string;
  readonly startTime: string;
  readonly writes: readonly PlannedWrite[];
}

/** One write that was not made. Has further fields, by target. */
export interface PlannedWrite {
  readonly target: "kubernetes" | "provider";
  readonly action: WriteAction;
  /** One line for people. */
  readonly summary: string;
}

/**
 * `create`: an object or a field is new, and nothing that exists changes. `update`: a value changes, or the effect is unknown. `delete`: an
 * object or a value is removed.
 */
export type WriteAction = "create" | "update" | "delete";
