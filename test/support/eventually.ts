import { setTimeout as wait } from "node:timers/promises";

const STEP_MS = 50;

/** Asks until there is an answer, for at most `timeoutMs`; then fails, saying what was waited for and how things stand. */
export async function eventually<T>(
  what: string,
  timeoutMs: number,
  ask: () => T | undefined | Promise<T | undefined>,
  state: () => unknown = () => "",
): Promise<T> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > endMs) {
      throw new Error(`waited ${timeoutMs} ms without success for ${what}\n${String(await state())}`);
    }
    await wait(STEP_MS);
  }
}
