import type { Paint } from "./paint.ts";
import type { Line } from "./describe-changes.ts";

export interface ScreenDeps {
  readonly write: (text: string) => void;
  readonly paint: Paint;
  /** Monotonic. */
  readonly nowMs: () => number;
}

export interface Screen {
  /** Writes one line, preceded by the seconds since the start. */
  readonly show: (line: Line) => void;
  /** Writes the text unchanged. */
  readonly print: (text: string) => void;
}

const SUBJECT_WIDTH = 12;

/** Writes the demo's output as plain lines, which work on a terminal, in a pipe and in a log. */
export function createScreen({ write, paint, nowMs }: ScreenDeps): Screen {
  const startedMs = nowMs();
  const tones = { plain: (text: string) => text, good: paint.green, bad: paint.red, quiet: paint.dim };
  return {
    show: ({ subject, text, tone }) => {
      const seconds = ((nowMs() - startedMs) / 1_000).toFixed(1).padStart(6);
      write(`${paint.dim(`${seconds} s`)}  ${paint.cyan(subject.padEnd(SUBJECT_WIDTH))} ${tones[tone](text)}\n`);
    },
    print: (text) => write(`${text}\n`),
  };
}
