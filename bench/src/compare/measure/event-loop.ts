const CALL_MS = 60_000;

/** By how much 99 of 100 turns of a Node process's event loop were late at most, since its metrics were read last. */
export async function readEventLoopP99Ms(metricsUrl: string): Promise<number | undefined> {
  const answer = await fetch(metricsUrl, { signal: AbortSignal.timeout(CALL_MS) });
  const seconds = /^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(await answer.text())?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
