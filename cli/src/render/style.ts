import type { Cause, State } from "@cloudwire/operator-api";
import type { Paint } from "../terminal/terminal.ts";
import { type Cell, hanging } from "../terminal/layout.ts";

/** Layout of text output. */
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

/** A cause, its remedy and its documentation. */
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
    ...(remedy === undefined
      ? []
      : [hanging("    To fix:  ", remedy, columns).replace("To fix:", () => paint.bold("To fix:"))]),
    ...(documentation === undefined ? [] : [paint.dim(`    Docs: ${documentation}`)]),
  ];
}
