/** How the process ends, for whoever starts it again (docs/explanation/process-lifecycle.md). */
export const EXIT = {
  /** Asked to end, and ended in order. */
  ok: 0,
  /** Leadership is lost, or something outside has to be put right first: the last line says what. */
  tryAgain: 1,
  /** sysexits.h EX_USAGE: the settings are wrong. */
  usage: 64,
  /** sysexits.h EX_SOFTWARE: a fault of this program. */
  fault: 70,
} as const;

/** As shells count a death by signal. */
export const EXIT_BY_SIGNAL = { SIGINT: 128 + 2, SIGTERM: 128 + 15, SIGHUP: 128 + 1 } as const;
