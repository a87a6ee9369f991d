/** Where the program writes, and what it takes from its process. */
export interface ProgramDeps {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Standard error is a terminal: progress and colours make sense. */
  readonly terminal: boolean;
  /** How wide the terminal is. Default: 80. */
  readonly columns?: number | undefined;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** What the program's exit code says. */
export const exitCodes = { passed: 0, failed: 1, usage: 2, notReady: 3, notClean: 4, kitBroke: 5 } as const;
