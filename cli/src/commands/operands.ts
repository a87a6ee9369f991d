import { OBJECT_KINDS, type ObjectKind, type ObjectRef, type ObjectRow, PATHS } from "@cloudwire/operator-api";
import { readPage } from "../client/read-page.ts";
import { readRows } from "../client/shapes/overview.ts";
import { UsageError } from "../errors.ts";
import type { Call } from "./command.ts";

/** As kubectl knows them. */
const SPELLINGS: ReadonlyMap<string, ObjectKind> = new Map([
  ["node", "node"],
  ["nodes", "node"],
  ["no", "node"],
  ["service", "service"],
  ["services", "service"],
  ["svc", "service"],
  ["route", "route"],
  ["routes", "route"],
  ["provider", "provider"],
  ["providers", "provider"],
]);

/** undefined: there is no such kind. */
export function kindOf(text: string): ObjectKind | undefined {
  return SPELLINGS.get(text.toLowerCase());
}

/** `node/NAME`, or `node NAME`; of a Service also its namespace. @throws UsageError */
export function objectOf(operands: readonly string[]): ObjectRef {
  const [kindText = "", ...name] = operands.length === 1 ? splitAtSlash(operands[0] ?? "") : operands;
  const kind = kindOf(kindText);
  if (operands.length === 0) throw new UsageError([`of which object? ${FORMS}`]);
  if (operands.length > 1 && kindText.includes("/")) throw severalObjects(operands);
  if (kind === undefined)
    throw new UsageError([`there is no kind ${kindText}; it is one of ${OBJECT_KINDS.join(", ")}`]);
  const [only = "", ...others] = name;
  if (others.length > 0) throw severalObjects(operands);
  const problem = nameProblem(kind, only, operands.join(" "));
  if (problem !== undefined) throw new UsageError([problem]);
  return `${kind}/${only}`;
}

function nameProblem(kind: ObjectKind, name: string, given: string): string | undefined {
  const parts = name.split("/");
  const form = kind === "service" ? "service/NAMESPACE/NAME" : `${kind}/NAME`;
  if (name === "") return `of which ${kind}? ${form}`;
  if (kind === "service" && parts.length === 1)
    return `${given} names no namespace: write service/NAMESPACE/${name} (--namespace is where the controller runs)`;
  const isWhole = parts.length === (kind === "service" ? 2 : 1) && !parts.includes("");
  return isWhole ? undefined : `${given} is no ${kind}: ${form} is one`;
}

function severalObjects(operands: readonly string[]): UsageError {
  return new UsageError([`${operands.join(" ")} is more than one object; one is asked about at a time: ${FORMS}`]);
}

const FORMS = "node/NAME, service/NAMESPACE/NAME, route/NODE or provider/NAME";

function splitAtSlash(text: string): readonly string[] {
  const slash = text.indexOf("/");
  return slash < 0 ? [text] : [text.slice(0, slash), text.slice(slash + 1)];
}

/** Most candidates. */
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

/** @throws UsageError when there are any */
export function noOperands({ operands }: Pick<Call, "operands">): void {
  if (operands.length > 0) throw new UsageError([`the command takes no words, and got ${operands.join(" ")}`]);
}
