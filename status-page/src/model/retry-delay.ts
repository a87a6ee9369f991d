const FIRST_MS = 1_000;
const MOST_MS = 30_000;

/** How long to wait before the next try, after so many that failed: doubled each time, and up to a quarter less by chance, so that pages do not come back together. */
export function retryDelayMs(failures: number, random: number): number {
  const fullMs = Math.min(MOST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return Math.round(fullMs * (1 - random / 4));
}
