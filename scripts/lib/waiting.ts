import process from "node:process";
import { formatDuration } from "./terminal.ts";

/** A log that says nothing for longer looks like that of a program that hangs. */
export const SAY_EVERY_MS = 15_000;

export interface WaitingOptions {
  readonly write: (line: string) => void;
  readonly nowMs: () => number;
}

const TO_STDOUT: WaitingOptions = {
  write: (line) => void process.stdout.write(`${line}\n`),
  nowMs: () => performance.now(),
};

/** Says every 15 s, until the work ends, what is still running and for how long. */
export async function sayWhileWaiting<T>(
  what: string,
  work: () => Promise<T>,
  { write, nowMs }: WaitingOptions = TO_STDOUT,
): Promise<T> {
  const startedMs = nowMs();
  const timer = setInterval(
    () => write(`-- ${formatDuration(nowMs() - startedMs)}: ${what} is still running`),
    SAY_EVERY_MS,
  );
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
