import { table } from "../terminal/table.ts";
import type { HeldNode } from "../client/held-nodes.ts";
import { cell, type Style } from "./style.ts";

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
