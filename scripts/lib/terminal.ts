/** Paints text, or leaves it plain where colors are not wanted. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly cyan: (text: string) => string;
}

/** Colors on a terminal only, and not when NO_COLOR is set to anything (no-color.org) or the terminal is "dumb". */
export function wantsColor(env: Readonly<Record<string, string | undefined>>, isTty: boolean): boolean {
  return isTty && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}

/** A paint for a terminal, or one that changes nothing. */
export function createPaint(colors: boolean): Paint {
  const code = (open: number, close: number) => (text: string) =>
    colors ? `\u001B[${open}m${text}\u001B[${close}m` : text;
  return {
    bold: code(1, 22),
    dim: code(2, 22),
    red: code(31, 39),
    green: code(32, 39),
    yellow: code(33, 39),
    cyan: code(36, 39),
  };
}

/** "0.4 s", "12.3 s", "4 min 05 s". */
export function formatDuration(durationMs: number): string {
  const seconds = durationMs / 1_000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
}
