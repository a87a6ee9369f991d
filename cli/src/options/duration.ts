const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** `24h`: timers go no further than some weeks, and nobody waits so long. */
const LONGEST_MS = 86_400_000;

/** Milliseconds of `500ms`, `2s`, `1m30s`; undefined: it is no duration, none at all, or longer than a day. */
export function parseDurationMs(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  const sumMs = parts.reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (UNIT_MS[unit] ?? 0), 0);
  return sumMs > 0 && sumMs <= LONGEST_MS ? sumMs : undefined;
}
