/** Where the program writes, and what it takes from its process. */
export interface ProgramDeps {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Standard error is a terminal: progress and colors make sense. */
  readonly terminal: boolean;
  /** How wide the terminal is. Default: 80. */
  readonly columns?: number | undefined;
  readonly random: () => number;
  /** Aborted with a {@link StopRequest} when a signal asks the program to stop in order. */
  readonly signal: AbortSignal;
  /** What is to be said when it has to end at once: the last that was given. */
  readonly lastWords?: (words: () => string) => void;
}

/** A signal that asks the program to end. */
export class StopRequest extends Error {
  override readonly name = "StopRequest";
  /** As shells have it: 128 and the number of the signal. */
  readonly exitCode: number;

  constructor(signal: keyof typeof stopSignals) {
    super(`stopped by ${signal}`);
    this.exitCode = 128 + stopSignals[signal];
  }
}

/** The signals that ask for an end, and their numbers. */
export const stopSignals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/** The exit code of a program that was stopped; undefined: it was not. */
export const stoppedCode = ({ signal }: ProgramDeps): number | undefined => {
  const reason: unknown = signal.reason;
  return reason instanceof StopRequest ? reason.exitCode : undefined;
};

/** What the program's exit code says. */
export const exitCodes = { passed: 0, failed: 1, usage: 2, notReady: 3, notClean: 4, kitBroke: 5 } as const;
