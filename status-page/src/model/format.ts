const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Two units at most: `850 ms`, `4.2 s`, `42 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  const rounded = Math.max(0, Math.round(ms));
  if (rounded < SECOND) return `${rounded} ms`;
  if (rounded < 10 * SECOND) return `${trimmed(rounded / SECOND)} s`;
  if (rounded < MINUTE - SECOND / 2) return `${Math.round(rounded / SECOND)} s`;
  const seconds = Math.round(rounded / SECOND) * SECOND;
  if (seconds < HOUR) return twoUnits(seconds, MINUTE, "min", SECOND, "s");
  const minutes = Math.round(rounded / MINUTE) * MINUTE;
  if (minutes < DAY) return twoUnits(minutes, HOUR, "h", MINUTE, "min");
  return twoUnits(Math.round(rounded / HOUR) * HOUR, DAY, "d", HOUR, "h");
}

function twoUnits(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const more = Math.round((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}${more === 0 ? "" : ` ${more} ${smallName}`}`;
}

function trimmed(value: number): string {
  return value.toFixed(1).replace(/\.0$/, "");
}

/** What is left of a wait, in whole seconds: `in 42 s`, and `now` when it is over. */
export function formatCountdown(leftMs: number): string {
  return leftMs < SECOND / 2 ? "now" : `in ${formatDuration(Math.max(SECOND, Math.round(leftMs / SECOND) * SECOND))}`;
}

/** `42 s ago`; what is ahead of a clock that runs late is `just now`, too. */
export function formatAgo(ageMs: number): string {
  return ageMs < SECOND ? "just now" : `${formatDuration(Math.floor(ageMs / SECOND) * SECOND)} ago`;
}

/** Of calls: `0/s`, `0.25/s`, `12.4/s`, `1,250/s`. */
export function formatRate(perSecond: number): string {
  return `${formatNumber(perSecond)}/s`;
}

export function formatNumber(value: number): string {
  const digits = value === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  const [whole = "", fraction = ""] = value.toFixed(digits).split(".");
  const decimals = fraction.replace(/0+$/, "");
  return `${whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ",")}${decimals === "" ? "" : `.${decimals}`}`;
}

/** `15:02:11`, in the local time zone; "" for an invalid time. */
export function formatTime(text: string): string {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return "";
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

/** `node-route-controller` stays; `notRunning` becomes `not running`. */
export function formatWord(text: string): string {
  return text
    .replaceAll("_", " ")
    .replaceAll(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`);
}

/** `1 Node`, `5,000 Nodes`. */
export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}
