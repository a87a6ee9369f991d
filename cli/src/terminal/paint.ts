/** Paints text, or leaves it plain where colours are not wanted. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly blue: (text: string) => string;
}

/** Colours on a terminal only, and not when NO_COLOR is set to anything (no-color.org) or the terminal is "dumb". */
export function wantsColours(
  wish: string,
  environment: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  if (wish !== "auto") return wish === "always";
  return isTerminal && (environment["NO_COLOR"] ?? "") === "" && environment["TERM"] !== "dumb";
}

/** A paint for a terminal, or one that changes nothing. */
export function createPaint(hasColours: boolean): Paint {
  const code = (open: number, close: number) => (text: string) =>
    hasColours && text !== "" ? `\u001B[${open}m${text}\u001B[${close}m` : text;
  return {
    bold: code(1, 22),
    dim: code(2, 22),
    red: code(31, 39),
    green: code(32, 39),
    yellow: code(33, 39),
    blue: code(34, 39),
  };
}
