/** `350 ms`, `1.5 s`, `12 s`, `3m20s`, `2h5m`, `3d4h`: two places at most. */
export function durationText(durationMs: number): string {
  if (durationMs < 1000) return `${Math.round(durationMs)} ms`;
  if (durationMs < 9950) return `${Math.round(durationMs / 100) / 10} s`;
  const seconds = Math.round(durationMs / 1000);
  if (seconds < 60) return `${seconds} s`;
  const units = [
    ["d", 86_400],
    ["h", 3600],
    ["m", 60],
    ["s", 1],
  ] as const;
  const first = units.findIndex(([, size]) => seconds >= size);
  return units
    .slice(first, first + 2)
    .map(([unit, size], place) => ({
      unit,
      count: place === 0 ? Math.floor(seconds / size) : Math.floor((seconds % sizeBefore(size)) / size),
    }))
    .filter(({ count }) => count > 0)
    .map(({ unit, count }) => `${count}${unit}`)
    .join("");
}

/** Of the next larger unit. */
function sizeBefore(size: number): number {
  return { 1: 60, 60: 3600, 3600: 86_400 }[size] ?? Number.POSITIVE_INFINITY;
}

/** `12 s ago`, by the clock of who said both times; `in 12 s` of one to come. A time that cannot be read is shown as it is. */
export function agoText(time: string, at: string): string {
  const differenceMs = Date.parse(at) - Date.parse(time);
  if (Number.isNaN(differenceMs)) return time;
  if (differenceMs < 0) return `in ${durationText(-differenceMs)}`;
  return differenceMs < 1000 ? "now" : `${durationText(differenceMs)} ago`;
}

/** `15:04:05Z`. A time that cannot be read is shown as it is. */
export function clockText(time: string): string {
  return /T(\d\d:\d\d:\d\d)/.exec(time)?.[1]?.concat("Z") ?? time;
}
