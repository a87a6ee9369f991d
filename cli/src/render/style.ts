import type { State } from "@cloudwire/operator-api";
import type { Paint } from "../terminal/paint.ts";
import type { Cell } from "../terminal/table.ts";

/** How texts for people are laid out. */
export interface Style {
  readonly paint: Paint;
  readonly columns: number | undefined;
}

export function stateCell(state: State, { paint }: Style): Cell {
  const paints = {
    ok: paint.green,
    working: paint.blue,
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
