import type { ObjectRow } from "@cloudwire/operator-api";
import { table } from "../terminal/table.ts";
import { wrap } from "../terminal/wrap.ts";
import { cell, stateCell, type Style } from "./style.ts";

/** A line for each object, for people. `limit`: how many were asked for at most. */
export function renderRows(rows: readonly ObjectRow[], limit: number, style: Style): string {
  const { paint, columns } = style;
  if (rows.length === 0) return "No objects.\n";
  const head = ["object", "state", "provider", "reason", "how it stands"].map((text) => ({ text, paint: paint.dim }));
  const lines = rows
    .toSorted((one, other) => (one.object < other.object ? -1 : 1))
    .map(({ object, state, provider, reason = "", summary }) => [
      cell(object),
      stateCell(state, style),
      cell(provider),
      cell(reason),
      cell(summary),
    ]);
  const more = `There may be more than these ${limit}: --limit shows them, --state and --search ask for fewer.`;
  return `${[...table([head, ...lines], { columns }), ...(rows.length < limit ? [] : wrap(more, columns))].join("\n")}\n`;
}
