import { styleText } from "node:util";

/** Styles text, or returns it unchanged when colors are off. */
export interface Paint {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly cyan: (text: string) => string;
}

/** Colors on a terminal only, and not when NO_COLOR is set to anything (no-color.org) or the terminal is "dumb". */
export function paintFor(env: Readonly<Record<string, string | undefined>>, isTty: boolean): Paint {
  const isColored = isTty && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
  const paint = (style: keyof Paint) => (text: string) =>
    isColored ? styleText(style, text, { validateStream: false }) : text;
  return {
    bold: paint("bold"),
    dim: paint("dim"),
    red: paint("red"),
    green: paint("green"),
    cyan: paint("cyan"),
  };
}
