/** How the program ends, for scripts. docs/reference/cli.md has them. */
export const EXIT = {
  /** Done. */
  ok: 0,
  /** It could not be done: the last line of standard error says why, and what to do. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** `plan`: something that is there would be changed or removed. */
  differences: 3,
  /** `plan`: it cannot be told yet, or nothing is observed. */
  undecided: 4,
  /** sysexits.h EX_SOFTWARE: a fault of this program. */
  fault: 70,
} as const;

/** As shells count a death by signal. */
export const EXIT_BY_SIGNAL = { SIGHUP: 128 + 1, SIGINT: 128 + 2, SIGTERM: 128 + 15 } as const;

export const EXIT_TEXTS: Readonly<Record<number, string>> = {
  [EXIT.ok]: "done",
  [EXIT.failed]: "it could not be done; the last line of standard error says why, and what to do",
  [EXIT.usage]: "the command line is wrong",
  [EXIT.fault]: "a fault of this program",
};
