import type { Cause, State } from "@cloudwire/operator-api";
import type { Paint } from "../terminal/terminal.ts";
import { type Cell, hanging } from "../terminal/layout.ts";

/** How texts for people are laid out. */
export interface Style {
  readonly paint: Paint;
  readonly columns: number | undefined;
}

export function stateCell(state: State, { paint }: Style): Cell {
  const paints = {
    ok: paint.green,
    progressing: paint.blue,
    waiting: paint.yellow,
    blocked: paint.red,
    unmanaged: paint.dim,
  };
  return { text: state, paint: paints[state] };
}

export function heading(text: string, { paint }: Style): readonly string[] {
  return ["", paint.bold(text)];
}

export function cell(text: string): Cell {
  return { text };
}

/** What stands in the way, what to do about it, and where more is said. */
export function causeLines(
  { reason, message, remedy, documentation }: Cause,
  { paint, columns }: Style,
  about = "",
): readonly string[] {
  return [
    hanging("  ", `${about === "" ? "" : `${about}: `}${reason}: ${message}`, columns).replace(
      `${reason}:`,
      () => `${paint.yellow(reason)}:`,
    ),
    ...(remedy === undefined ? [] : [hanging("    Do:  ", remedy, columns).replace("Do:", () => paint.bold("Do:"))]),
    ...(documentation === undefined ? [] : [paint.dim(`    See: ${documentation}`)]),
  ];
}
