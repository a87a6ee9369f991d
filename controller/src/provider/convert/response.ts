import type { ItemError } from "@cloudwire/proto/cloudprovider/v1/error";
import type { BrokenRule } from "@cloudwire/proto/rule-checker";
import { measureMessage } from "@cloudwire/proto/wire-limits";
import { type Breach, RESPONSE_INVALID } from "../model/breach.ts";
import { InterningReader, type StringCache } from "../../util/string-cache.ts";
import type { ItemList } from "./item-lists.ts";
import { RULES, type Rpc, limitsOf, responseMessage } from "./methods.ts";

/** Largest response of the contract (proto/README.md LIM-2), without compression. */
export const MAX_RESPONSE_BYTES = 1024 * 1024;

/** Largest number of messages and map entries of a response: 1,000 instances with 100 addresses and labels each. */
const MAX_ELEMENTS = 100_000;

/** Allowed difference between the clocks of the controller, the provider and the cloud (proto/README.md LIM-5). */
export const CLOCK_TOLERANCE_MS = 60_000;

/** Violations of one response that are reported. */
const MAX_BREACHES = 8;

/** The part of an RPC that its responses are held to. */
export type Answer<Response> = Pick<
  Rpc<unknown, Response>,
  "name" | "response" | "itemLists" | "withoutEvent" | "isLenient"
>;

export interface AcceptedResponse<Response> {
  readonly kind: "accepted";
  readonly response: Response;
  /** Of items, which failed or were left out. */
  readonly breaches: readonly Breach[];
  /** Memory that the response takes, in bytes, approximately. */
  readonly sizeBytes: number;
}

export type HeldResponse<Response> =
  | AcceptedResponse<Response>
  /** The whole response must be ignored. */
  | { readonly kind: "broken"; readonly breach: Breach };

/** Memory of a decoded message besides its texts. */
const ELEMENT_BYTES = 96;

/** Holds an encoded response to the contract: before it is decoded to its limits, then to the rules of its fields. */
export function heldResponse<Response>(
  rpc: Answer<Response>,
  bytes: Uint8Array,
  { nowMs, strings }: { readonly nowMs: number; readonly strings: StringCache },
): HeldResponse<Response> {
  const broken = (rule: Breach["rule"], field: string, description: string): HeldResponse<Response> => ({
    kind: "broken",
    breach: { method: rpc.name, rule, field, description },
  });
  if (bytes.length > MAX_RESPONSE_BYTES) {
    return broken("size", "", `has ${bytes.length} bytes; at most ${MAX_RESPONSE_BYTES} are allowed`);
  }
  const message = responseMessage(rpc.name);
  const measured = measureMessage(message, bytes);
  if (measured.kind === "invalid") return broken("encoding", "", measured.description);
  const { elements } = measured;
  if (elements > MAX_ELEMENTS)
    return broken("items", "", `has ${elements} elements; at most ${MAX_ELEMENTS} are allowed`);
  const decoded = decode(rpc, bytes, strings);
  if (decoded === undefined) return broken("encoding", "", "is not a protobuf message");
  const overfull = rpc.itemLists.find((list) => list.items(decoded).length > limitsOf(message, list.field).maxItems);
  if (overfull !== undefined) return broken("items", overfull.field, "has more items than allowed");
  const latestMs = nowMs + CLOCK_TOLERANCE_MS;
  const sizeBytes = bytes.length + elements * ELEMENT_BYTES;
  const except = new Set(rpc.itemLists.map(({ field }) => field));
  const [first] = RULES.check(message, decoded, { latestMs, except, isLenient: rpc.isLenient });
  if (first === undefined) return { kind: "accepted", sizeBytes, ...withoutBroken(rpc, decoded, latestMs) };
  const breach = breachOf(rpc, first);
  const response = rpc.withoutEvent?.(decoded);
  return response === undefined
    ? { kind: "broken", breach }
    : { kind: "accepted", response, breaches: [breach], sizeBytes };
}

function decode<Response>(rpc: Answer<Response>, bytes: Uint8Array, strings: StringCache): Response | undefined {
  try {
    return rpc.response.decode(new InterningReader(bytes, strings));
  } catch {
    return undefined;
  }
}

function withoutBroken<Response>(rpc: Answer<Response>, decoded: Response, latestMs: number) {
  const breaches: Breach[] = [];
  let response = decoded;
  for (const list of rpc.itemLists) {
    const failed = failedItems(rpc, list, response, latestMs, breaches);
    if (failed.size > 0) response = list.withFailed(response, failed);
  }
  return { response, breaches };
}

function failedItems<Response>(
  rpc: Answer<Response>,
  list: ItemList<Response>,
  response: Response,
  latestMs: number,
  breaches: Breach[],
): ReadonlyMap<number, ItemError> {
  const failed = new Map<number, ItemError>();
  for (const [index, item] of list.items(response).entries()) {
    const [first] = RULES.check(list.message, item, { latestMs });
    if (first === undefined) continue;
    const breach = breachOf(rpc, { ...first, field: `${list.field}[${index}].${first.field}` });
    if (breaches.length < MAX_BREACHES) breaches.push(breach);
    failed.set(index, itemError(breach));
  }
  return failed;
}

function breachOf({ name: method }: Answer<unknown>, { reason, field, description }: BrokenRule): Breach {
  return { method, rule: field.endsWith("_time") && reason === "FIELD_INVALID" ? "time" : "field", field, description };
}

/** Becomes an error of the same class as that of a whole response. */
function itemError({ field, description }: Breach): ItemError {
  return {
    ...RESPONSE_INVALID,
    message: `the response violates the contract: ${field} ${description}; report it to the provider's vendor`,
    retryAfter: undefined,
    metadata: {},
    field,
  };
}
