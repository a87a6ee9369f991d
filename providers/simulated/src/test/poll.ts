import { setTimeout as sleep } from "node:timers/promises";

/** Asks again and again until the answer is there; rejects after the time allowed. */
export async function poll<T>(
  what: string,
  ask: () => Promise<T | undefined> | T | undefined,
  timeoutMs = 10_000,
): Promise<T> {
  const endMs = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > endMs) throw new Error(`timed out after ${timeoutMs} ms: ${what}`);
    await sleep(10);
  }
}
