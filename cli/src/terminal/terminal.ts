import type { Paint } from "./paint.ts";

/** Where a command writes, and what can be shown there. */
export interface Terminal {
  /** To standard output, as it is. */
  readonly out: (text: string) => void;
  /** To standard error: what is not the answer. It is never painted; what would move a terminal is left out. */
  readonly err: (text: string) => void;
  readonly paint: Paint;
  /** How wide a line may be; undefined: as long as it is, for programs that read it. */
  readonly columns: number | undefined;
  /** Standard output is a terminal: what was drawn can be drawn anew. */
  readonly canRedraw: boolean;
  /** Somebody sits before it who can be asked. */
  readonly canAsk: boolean;
  /** One line of an answer; undefined: the input has ended, or the process is to end. */
  readonly ask: (question: string, signal: AbortSignal) => Promise<string | undefined>;
  /** Characters beyond ASCII can be shown. */
  readonly isUnicode: boolean;
}
