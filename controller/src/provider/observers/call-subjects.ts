import { beginningOf } from "../../util/text.ts";
import { isRecord } from "../../util/json.ts";
import { codeName } from "../model/errors.ts";
import type { Rpc } from "../convert/methods.ts";

/** What a call was made for. */
export interface Subjects {
  readonly kind: "node" | "service" | "route" | "provider";
  /** Of Nodes, or `namespace/name`; none: the call is about everything that the provider has. */
  readonly names: readonly string[];
}

/** What became of one of several that a call was made for, where it went another way than the call. */
export interface ItemFailure {
  readonly code: string;
  readonly reason: string;
  readonly message: string;
}

/** Of a call for thousands of Nodes that all fail alike a few say as much as all of them. */
const MAX_FAILURES = 50;

/** Kept of what a provider says; the contract allows twice as much, and a provider may not keep to it. */
const MAX_MESSAGE = 500;
const MAX_REASON = 63;

/** Whose call it was, by its request. Reads names only. */
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

/** Which of them failed although the call did not, by name. */
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

/** Items without an answer are told in the same words by look-ups and by changes of routes. */
function failureOf(result: unknown): ItemFailure | undefined {
  const outcome = isRecord(result) ? result["outcome"] : undefined;
  if (!isRecord(outcome) || (outcome["$case"] !== "error" && outcome["$case"] !== "unknown")) return undefined;
  const { value } = outcome;
  if (!isRecord(value)) return undefined;
  const code = typeof value["code"] === "number" ? codeName(value["code"]) : "UNKNOWN";
  return { code, ...keptOf({ reason: textOf(value["reason"]), message: textOf(value["message"]) }) };
}

/** As much of it as is remembered. */
export function keptOf({ reason, message }: Pick<ItemFailure, "reason" | "message">): Omit<ItemFailure, "code"> {
  return { reason: beginningOf(reason, MAX_REASON), message: beginningOf(message, MAX_MESSAGE) };
}

function namesIn(items: unknown, field: string): readonly string[] {
  return Array.isArray(items) ? items.map((item: unknown) => (isRecord(item) ? textOf(item[field]) : "")) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
