import { beginningOf } from "../../util/text.ts";
import { isRecord } from "../../util/json.ts";
import { codeName } from "../model/errors.ts";
import type { Rpc } from "../convert/methods.ts";

export interface Subjects {
  readonly kind: "node" | "service" | "route" | "provider";
  /** Names of Nodes or `namespace/name`; empty: a call for all objects of the provider. */
  readonly names: readonly string[];
}

/** The failure of one object of a successful call. */
export interface ItemFailure {
  readonly code: string;
  readonly reason: string;
  readonly message: string;
}

/** A few failures suffice for a call with thousands of Nodes. */
const MAX_FAILURES = 50;

/** Messages are truncated to these lengths; the contract allows twice as much. */
const MAX_MESSAGE = 500;
const MAX_REASON = 63;

/** The objects of a call by its request. */
export function subjectsOf(rpc: Pick<Rpc<unknown, unknown>, "name">, request: unknown): Subjects {
  const fields = isRecord(request) ? request : {};
  switch (rpc.name) {
    case "BatchGetInstances":
      return { kind: "node", names: namesIn(fields["nodes"], "name") };
    case "BatchEnsureRoutes":
    case "BatchDeleteRoutes":
      return { kind: "route", names: namesIn(fields["routes"], "targetNodeName") };
    case "GetLoadBalancer":
    case "EnsureLoadBalancer":
    case "UpdateLoadBalancerNodes":
    case "DeleteLoadBalancer": {
      const { service } = fields;
      const isNamed = isRecord(service);
      return { kind: "service", names: isNamed ? [`${textOf(service["namespace"])}/${textOf(service["name"])}`] : [] };
    }
    default:
      return { kind: "provider", names: [] };
  }
}

/** Failures of single objects in a successful call, by name. */
export function itemFailures({ names }: Subjects, response: unknown): ReadonlyMap<string, ItemFailure> | undefined {
  const results: unknown = isRecord(response) ? response["results"] : undefined;
  if (!Array.isArray(results) || results.length !== names.length) return undefined;
  let failures: Map<string, ItemFailure> | undefined;
  for (const [index, name] of names.entries()) {
    const failure = failureOf(results[index]);
    if (failure === undefined) continue;
    failures ??= new Map();
    if (failures.size < MAX_FAILURES) failures.set(name, failure);
  }
  return failures;
}

/** Look-ups and route changes have the same outcomes. */
function failureOf(result: unknown): ItemFailure | undefined {
  const outcome = isRecord(result) ? result["outcome"] : undefined;
  if (!isRecord(outcome) || (outcome["$case"] !== "error" && outcome["$case"] !== "unknown")) return undefined;
  const { value } = outcome;
  if (!isRecord(value)) return undefined;
  const code = typeof value["code"] === "number" ? codeName(value["code"]) : "UNKNOWN";
  return { code, ...keptOf({ reason: textOf(value["reason"]), message: textOf(value["message"]) }) };
}

export function keptOf({ reason, message }: Pick<ItemFailure, "reason" | "message">): Omit<ItemFailure, "code"> {
  return { reason: beginningOf(reason, MAX_REASON), message: beginningOf(message, MAX_MESSAGE) };
}

function namesIn(items: unknown, field: string): readonly string[] {
  return Array.isArray(items) ? items.map((item: unknown) => (isRecord(item) ? textOf(item[field]) : "")) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
