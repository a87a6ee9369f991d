/** Exit codes, documented in docs/reference/cli.md. */
export const EXIT = {
  ok: 0,
  /** The last line of standard error has the error and how to fix it. */
  failed: 1,
  /** Invalid command line. */
  usage: 2,
  /** `plan`: existing objects or resources would be updated or deleted. */
  differences: 3,
  /** `plan`: the plan is not complete, or the controller is not in observe mode. */
  unknown: 4,
  /** sysexits.h EX_SOFTWARE. */
  internalError: 70,
} as const;

/** As in shells: 128 plus the number of the signal. */
export const EXIT_BY_SIGNAL = { SIGHUP: 128 + 1, SIGINT: 128 + 2, SIGTERM: 128 + 15 } as const;

export const EXIT_TEXTS: Readonly<Record<number, string>> = {
  [EXIT.ok]: "success",
  [EXIT.failed]: "failure; the last line of standard error has the error, how to fix it, and its code",
  [EXIT.usage]: "invalid command line",
  [EXIT.internalError]: "internal error (a bug)",
};
