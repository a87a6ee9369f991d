/** The planned writes of observe mode. */
export interface PlanReport {
  /** False: the controller makes all its writes (--mode). */
  readonly observing: boolean;
  /** Every key was reconciled, and none failed: the plan is reliable. */
  readonly complete: boolean;
  readonly pending: Readonly<Record<WriteAction, number>>;
  /** Keys whose last reconcile failed. */
  readonly failedKeys: readonly { readonly controller: string; readonly key: string; readonly provider: string }[];
  /** Oldest first. */
  readonly plans: readonly PlannedReconcile[];
}

/** The planned writes of one key. */
export interface PlannedReconcile {
  readonly controller: string;
  readonly key: string;
  /** "": no owner. */
  readonly provider: string;
  /** Equal for equal plans. */
  readonly digest: string;
  readonly startTime: string;
  readonly writes: readonly PlannedWrite[];
}

/** Has more fields, depending on the target. */
export interface PlannedWrite {
  readonly target: "kubernetes" | "provider";
  readonly action: WriteAction;
  /** One line. */
  readonly summary: string;
}

/**
 * `create`: an object or a field is new, and nothing that exists changes. `update`: a value changes, or the effect is unknown. `delete`: an
 * object or a value is removed.
 */
export type WriteAction = "create" | "update" | "delete";
