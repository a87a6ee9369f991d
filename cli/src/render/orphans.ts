import type { OrphansPage } from "@cloudwire/operator-api";
import { table } from "../terminal/table.ts";
import { wrap } from "../terminal/wrap.ts";
import { cell, heading, type Style } from "./style.ts";

/** What nobody in the cluster owns, for people. */
export function renderOrphans({ orphans, unknown }: OrphansPage, style: Style): string {
  const { paint, columns } = style;
  const head = ["provider", "kind", "id", "owner", "why it is there"].map((text) => ({ text, paint: paint.dim }));
  const rows = orphans.map(({ provider, kind, id, owner, message }) => [provider, kind, id, owner, message].map(cell));
  const isComplete = unknown.length === 0;
  const lines = [
    ...(orphans.length === 0
      ? wrap(
          `No orphans${isComplete ? ": all that has this cluster's stamp at the clouds has an owner in the cluster" : " are known"}.`,
          columns,
        )
      : table([head, ...rows], { columns })),
    ...(isComplete ? [] : heading("Not asked, so that the list may lack some", style)),
    ...table(
      unknown.map(({ provider, message }) => [{ text: provider, paint: paint.yellow }, cell(message)]),
      { columns, indent: 2 },
    ),
  ];
  return `${lines.join("\n")}\n`;
}
