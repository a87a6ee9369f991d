import { OBJECT_KINDS, type ObjectKind, type ObjectRef, type ObjectRow, PATHS } from "@cloudwire/operator-api";
import { readPage } from "../client/read-page.ts";
import { readRows } from "../client/shapes/overview.ts";
import { UsageError } from "../errors.ts";
import type { Call } from "./command.ts";

/** Names and short names, as in kubectl. */
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

/** undefined: unknown kind. */
export function kindOf(text: string): ObjectKind | undefined {
  return SPELLINGS.get(text.toLowerCase());
}

/** `node/NAME`, or `node NAME`; of a Service also its namespace. @throws UsageError */
export function objectOf(operands: readonly string[]): ObjectRef {
  const [kindText = "", ...name] = operands.length === 1 ? splitAtSlash(operands[0] ?? "") : operands;
  const kind = kindOf(kindText);
  if (operands.length === 0) throw new UsageError([`no object specified; use ${FORMS}`]);
  if (operands.length > 1 && kindText.includes("/")) throw severalObjects(operands);
  if (kind === undefined) throw new UsageError([`unknown kind ${kindText}; use one of ${OBJECT_KINDS.join(", ")}`]);
  const [only = "", ...others] = name;
  if (others.length > 0) throw severalObjects(operands);
  const problem = nameProblem(kind, only, operands.join(" "));
  if (problem !== undefined) throw new UsageError([problem]);
  return `${kind}/${only}`;
}

function nameProblem(kind: ObjectKind, name: string, given: string): string | undefined {
  const parts = name.split("/");
  const form = kind === "service" ? "service/NAMESPACE/NAME" : `${kind}/NAME`;
  if (name === "") return `no ${kind} specified; use ${form}`;
  if (kind === "service" && parts.length === 1)
    return `${given} has no namespace; use service/NAMESPACE/${name} (--namespace is that of the controller)`;
  const isWhole = parts.length === (kind === "service" ? 2 : 1) && !parts.includes("");
  return isWhole ? undefined : `invalid ${kind} ${given}; use ${form}`;
}

function severalObjects(operands: readonly string[]): UsageError {
  return new UsageError([`specify one object, not several: ${operands.join(" ")}; use ${FORMS}`]);
}

const FORMS = "node/NAME, service/NAMESPACE/NAME, route/NODE or provider/NAME";

function splitAtSlash(text: string): readonly string[] {
  const slash = text.indexOf("/");
  return slash < 0 ? [text] : [text.slice(0, slash), text.slice(slash + 1)];
}

/** Maximum number of completions. */
const MAX = 200;

/** The shell waits for the completions. */
const TIMEOUT_MS = 1500;

/** Objects of a kind by the beginning of their name, for completion. */
export async function objectNames(
  call: Call,
  kind: ObjectKind,
  prefix: string,
): Promise<readonly ObjectRow["object"][]> {
  const query = { kind, search: prefix, limit: String(MAX) };
  const rows = readRows(await readPage(await call.controller(), PATHS.objects, query, { timeoutMs: TIMEOUT_MS }));
  return rows.map(({ object }) => object).filter((object) => object.startsWith(`${kind}/${prefix}`));
}

/** @throws UsageError if there are operands */
export function noOperands({ operands }: Pick<Call, "operands">): void {
  if (operands.length > 0) throw new UsageError([`the command takes no arguments, but got ${operands.join(" ")}`]);
}
