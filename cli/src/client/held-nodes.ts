import { DELETION_BRAKE, PATHS } from "@cloudwire/operator-api";
import type { Connection } from "./connection.ts";
import { readPage } from "./read-page.ts";
import { readRows } from "./shapes/overview.ts";

export interface HeldNode {
  readonly name: string;
  readonly provider: string;
  /** One sentence: why it is held. */
  readonly summary: string;
}

/** The Nodes that the brake holds at this moment, by name. */
export async function heldNodes(connection: Connection): Promise<readonly HeldNode[]> {
  const rows = readRows(await readPage(connection, PATHS.objects, { kind: "node", search: DELETION_BRAKE }));
  return rows
    .filter(({ object, reason }) => reason === DELETION_BRAKE && object.startsWith("node/"))
    .map(({ object, provider, summary }) => ({ name: object.slice("node/".length), provider, summary }))
    .toSorted((left, right) => left.name.localeCompare(right.name, "en"));
}
