/** Something wrong with the settings: where, what, and what to do. */
export interface Problem {
  /** The flag as a user writes it, `--provider`. */
  readonly where: string;
  readonly what: string;
}
