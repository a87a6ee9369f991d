import { type ObjectKind, type ObjectRow, PATHS } from "@cloudwire/operator-api";
import { readPage } from "../client/read-page.ts";
import { readRows } from "../client/shapes/overview.ts";
import type { Call } from "./command.ts";

/** Nobody reads through more than these. */
const MOST = 200;

/** A shell waits meanwhile. */
const TIMEOUT_MS = 1500;

/** Objects of a kind whose name begins so, for completion. */
export async function objectNames(
  call: Call,
  kind: ObjectKind,
  prefix: string,
): Promise<readonly ObjectRow["object"][]> {
  const query = { kind, search: prefix, limit: String(MOST) };
  const rows = readRows(await readPage(await call.controller(), PATHS.objects, query, { timeoutMs: TIMEOUT_MS }));
  return rows.map(({ object }) => object).filter((object) => object.startsWith(`${kind}/${prefix}`));
}
