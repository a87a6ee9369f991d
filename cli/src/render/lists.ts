import type { ObjectRow, OrphanReport } from "@cloudwire/operator-api";
import type { BlockedNode } from "../client/shapes/overview.ts";
import { table, wrap } from "../terminal/layout.ts";
import { type Style, cell, heading, stateCell } from "./style.ts";

/** A line for each object. `limit`: the most that were requested. */
export function renderRows(rows: readonly ObjectRow[], limit: number, style: Style): string {
  const { paint, columns } = style;
  if (rows.length === 0) return "No objects.\n";
  const head = ["object", "state", "provider", "reason", "summary"].map((text) => ({ text, paint: paint.dim }));
  const lines = rows
    .toSorted((one, other) => (one.object < other.object ? -1 : 1))
    .map(({ object, state, provider, reason = "", summary }) => [
      cell(object),
      stateCell(state, style),
      cell(provider),
      cell(reason),
      cell(summary),
    ]);
  const more = `Showing the first ${limit} objects. Use --limit for more, --state and --search for fewer.`;
  return `${[...table([head, ...lines], { columns }), ...(rows.length < limit ? [] : wrap(more, columns))].join("\n")}\n`;
}

/** Nodes that the circuit breaker blocks, or those of them to approve. */
export function renderBlocked(
  nodes: readonly BlockedNode[],
  which: "blocked" | "chosen",
  { paint, columns }: Style,
): string {
  if (nodes.length === 0) return "The circuit breaker is closed.\n";
  const count = nodes.length === 1 ? "1 Node" : `${nodes.length} Nodes`;
  const title =
    which === "blocked"
      ? `Deletion of ${count} is blocked by the circuit breaker:`
      : `To approve for deletion: ${count}`;
  const rows = nodes.map(({ name, provider, summary }) => [cell(name), cell(provider), cell(summary)]);
  return `${[paint.bold(title), ...table(rows, { columns, indent: 2 })].join("\n")}\n`;
}

/** Resources in the clouds without an owner in the cluster. */
export function renderOrphans({ orphans, unreachableProviders }: OrphanReport, style: Style): string {
  const { paint, columns } = style;
  const head = ["provider", "kind", "id", "owner", "message"].map((text) => ({ text, paint: paint.dim }));
  const rows = orphans.map(({ provider, kind, id, owner, message }) => [provider, kind, id, owner, message].map(cell));
  const isComplete = unreachableProviders.length === 0;
  const lines = [
    ...(orphans.length === 0
      ? wrap(
          `No orphans${isComplete ? ": every resource with this cluster's ownership tags has an owner in the cluster" : " are known"}.`,
          columns,
        )
      : table([head, ...rows], { columns })),
    ...(isComplete ? [] : heading("Unreachable providers (their orphans may be missing)", style)),
    ...table(
      unreachableProviders.map(({ provider, message }) => [{ text: provider, paint: paint.yellow }, cell(message)]),
      { columns, indent: 2 },
    ),
  ];
  return `${lines.join("\n")}\n`;
}
