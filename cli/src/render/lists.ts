import type { ObjectRow, OrphanReport } from "@cloudwire/operator-api";
import type { HeldNode } from "../client/shapes/overview.ts";
import { table, wrap } from "../terminal/layout.ts";
import { type Style, cell, heading, stateCell } from "./style.ts";

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

/** Nodes that the brake holds, or those of them that are to be released, for people. */
export function renderHeld(nodes: readonly HeldNode[], which: "held" | "chosen", { paint, columns }: Style): string {
  if (nodes.length === 0) return "The brake holds no Node.\n";
  const count = nodes.length === 1 ? "1 Node" : `${nodes.length} Nodes`;
  const title =
    which === "held"
      ? `The brake holds ${count}:`
      : `To be released, and deleted when every other rule agrees: ${count}`;
  const rows = nodes.map(({ name, provider, summary }) => [cell(name), cell(provider), cell(summary)]);
  return `${[paint.bold(title), ...table(rows, { columns, indent: 2 })].join("\n")}\n`;
}

/** What nobody in the cluster owns, for people. */
export function renderOrphans({ orphans, unreachableProviders }: OrphanReport, style: Style): string {
  const { paint, columns } = style;
  const head = ["provider", "kind", "id", "owner", "why it is there"].map((text) => ({ text, paint: paint.dim }));
  const rows = orphans.map(({ provider, kind, id, owner, message }) => [provider, kind, id, owner, message].map(cell));
  const isComplete = unreachableProviders.length === 0;
  const lines = [
    ...(orphans.length === 0
      ? wrap(
          `No orphans${isComplete ? ": all that has this cluster's stamp at the clouds has an owner in the cluster" : " are known"}.`,
          columns,
        )
      : table([head, ...rows], { columns })),
    ...(isComplete ? [] : heading("Not asked, so that the list may lack some", style)),
    ...table(
      unreachableProviders.map(({ provider, message }) => [{ text: provider, paint: paint.yellow }, cell(message)]),
      { columns, indent: 2 },
    ),
  ];
  return `${lines.join("\n")}\n`;
}
