/** Something wrong with the settings: where, what, and what to do. */
export interface Problem {
  /** The flag as a user writes it, `--provider`. */
  readonly where: string;
  readonly what: string;
}

/** One setting, if it is said, and what is wrong with it; `Wrong` is how its reader tells that. */
export interface Setting<Value, Wrong = Problem> {
  readonly value: Value | undefined;
  readonly problems: readonly Wrong[];
}
