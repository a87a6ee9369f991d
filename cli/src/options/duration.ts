const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds of `500ms`, `2s`, `1m30s`; undefined: it is no duration, or none at all. */
export function parseDurationMs(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  const sumMs = parts.reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (UNIT_MS[unit] ?? 0), 0);
  return sumMs > 0 ? sumMs : undefined;
}
