import type { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import type { CallStats as WireCallStats, Diagnostic, PlannedChange } from "@cloudwire/proto/cloudprovider/v1/common";
import { type MethodName, methodRules } from "@cloudwire/proto/methods";
import { fieldRules } from "@cloudwire/proto/rules";
import type { FieldRules } from "@cloudwire/proto/secrets";
import type { CallStats, QuotaClass } from "../model/call-rate.ts";
import { type ProviderError, contractError } from "../model/errors.ts";
import * as lists from "./item-lists.ts";
import { durationMs } from "./scalars.ts";

export interface Codec<Message> {
  encode(message: Message): BinaryWriter;
  decode(bytes: BinaryReader | Uint8Array): Message;
  toJSON(message: Message): unknown;
}

export interface Rpc<Request, Response> {
  readonly name: MethodName;
  readonly path: string;
  /** 0: none, a stream. */
  readonly timeoutMs: number;
  /** Changes are never retried by the client, and are rejected while the provider's scope is untrusted. */
  readonly isChange: boolean;
  /** Budget of the call; undefined: it does not call the cloud. */
  readonly quotaClass: QuotaClass | undefined;
  readonly request: Codec<Request>;
  readonly response: Codec<Response>;
  /** Items that can violate the contract without the rest of the response. */
  readonly itemLists: readonly lists.ItemList<Response>[];
  /** Cost of the call in the cloud; undefined: unknown. */
  stats(response: Response): CallStats | undefined;
  /** A message of a stream without the part that violates the contract; undefined: the call fails. */
  withoutEvent?(response: Response): Response;
  /** A missing or wrong value has a safe default (convert/info.ts): only sizes and control characters are checked. */
  readonly isLenient: boolean;
}

interface Definition<Request, Response> {
  readonly name: MethodName;
  readonly requestType: Codec<Request>;
  readonly responseType: Codec<Response>;
}

const { methods, fullName } = CloudProviderDefinition;

/** Every RPC this program calls. Deadlines and kinds are the contract's. */
export const RPCS = {
  getProviderInfo: rpc(methods.getProviderInfo, undefined, withoutStats, [lists.diagnostics()]),
  getProviderStatus: rpc(methods.getProviderStatus, undefined, withoutStats, [lists.conditions(), lists.rateLimits()]),
  batchGetInstances: rpc(methods.batchGetInstances, "instances", statsOf, [lists.instanceResults()]),
  listInstances: rpc(methods.listInstances, "instances", statsOf, [lists.listedInstances()]),
  watchInstances: watch(methods.watchInstances, "instances"),
  getLoadBalancer: rpc(methods.getLoadBalancer, "load_balancers", statsOf, [lists.diagnostics()]),
  listLoadBalancers: rpc(methods.listLoadBalancers, "load_balancers", statsOf, [lists.listedLoadBalancers()]),
  ensureLoadBalancer: rpc(methods.ensureLoadBalancer, "load_balancers", statsOf, changeLists()),
  updateLoadBalancerNodes: rpc(methods.updateLoadBalancerNodes, "load_balancers", statsOf, changeLists()),
  deleteLoadBalancer: rpc(methods.deleteLoadBalancer, "load_balancers", statsOf, changeLists()),
  watchLoadBalancers: watch(methods.watchLoadBalancers, "load_balancers"),
  applyNodeSet: rpc(methods.applyNodeSet, undefined, withoutStats, []),
  listRoutes: rpc(methods.listRoutes, "routes", statsOf, [lists.listedRoutes()]),
  batchEnsureRoutes: rpc(methods.batchEnsureRoutes, "routes", statsOf, [lists.routeResults(), lists.plannedChanges()]),
  batchDeleteRoutes: rpc(methods.batchDeleteRoutes, "routes", statsOf, [lists.routeResults(), lists.plannedChanges()]),
  batchGetVolumes: rpc(methods.batchGetVolumes, "volumes", statsOf, [lists.volumeResults()]),
} as const;

function changeLists<
  Response extends { diagnostics: Diagnostic[]; plannedChanges: PlannedChange[] },
>(): readonly lists.ItemList<Response>[] {
  return [lists.diagnostics(), lists.plannedChanges()];
}

/** Full name of the request message, the key of the contract's field rules. */
export function requestMessage(name: MethodName): string {
  return `cloudprovider.v1.${name}Request`;
}

export function responseMessage(name: MethodName): string {
  return `cloudprovider.v1.${name}Response`;
}

function rpc<Request, Response>(
  { name, requestType, responseType }: Definition<Request, Response>,
  quotaClass: QuotaClass | undefined,
  stats: (response: Response) => CallStats | undefined,
  itemLists: readonly lists.ItemList<Response>[],
): Rpc<Request, Response> {
  const { deadlineMs, change } = methodRules[name];
  const common = { name, path: `/${fullName}/${name}`, timeoutMs: deadlineMs, isChange: change, quotaClass };
  return {
    ...common,
    request: requestType,
    response: responseType,
    stats,
    itemLists,
    isLenient: name === "GetProviderInfo",
  };
}

/** Without its event and token, a stream that is reopened requests a new list. */
function watch<Request, Response extends { event?: object | undefined; resumeToken: string }>(
  definition: Definition<Request, Response>,
  quotaClass: QuotaClass,
): Rpc<Request, Response> {
  const withoutEvent = (response: Response): Response => ({ ...response, event: undefined, resumeToken: "" });
  return { ...rpc(definition, quotaClass, withoutStats, []), withoutEvent };
}

function statsOf({ stats }: { readonly stats: WireCallStats | undefined }): CallStats | undefined {
  if (stats === undefined) return undefined;
  const { dataAge, ...rest } = stats;
  return { ...rest, dataAgeMs: durationMs(dataAge) };
}

function withoutStats(): undefined {
  return undefined;
}

export interface ReceivedFacts {
  /** Memory that the response takes, approximately. */
  readonly sizeBytes: number;
  /** Items violate the contract and were left out: what is missing is not absent. */
  readonly isPartial: boolean;
}

export interface RpcOptions {
  readonly signal: AbortSignal;
  /** In our log and the provider's. */
  readonly requestId: string;
  readonly traceparent: string;
  /** @default the contract's for the RPC */
  readonly timeoutMs?: number;
  /** Called with facts about the response. */
  readonly received?: (facts: ReceivedFacts) => void;
}

/** Limits, retries and metrics wrap one of these around another. */
export interface RpcCaller {
  /** Rejects with a ProviderError only. */
  unary<Request, Response>(rpc: Rpc<Request, Response>, request: Request, options: RpcOptions): Promise<Response>;
}

/** The connection of calls; it can change between calls. */
export interface CallRoute {
  readonly caller: RpcCaller;
}

/** Parts of requests that only convert/ reads. */
export type { CallContext, ChangeContext } from "@cloudwire/proto/cloudprovider/v1/common";

/** The status of a call in the transport. */
export interface WireStatus {
  /** Canonical gRPC code; 0: success. */
  readonly code: number;
  readonly message: string;
  /** Trailer `grpc-status-details-bin`. */
  readonly details: Uint8Array | undefined;
  /** Canceled by the caller: the provider's response is unknown. */
  readonly isGivenUp: boolean;
}

export interface RecordedCall<Response> {
  /** One message of the response, and its original bytes. */
  message(response: Response, bytes: Uint8Array): void;
  end(status: WireStatus): void;
}

export interface RecordedOptions {
  readonly requestId: string;
  /** undefined: none, a stream. */
  readonly timeoutMs: number | undefined;
}

/** Records the messages of each attempt. Never throws or waits. */
export interface WireRecorder {
  begin<Request, Response>(
    rpc: Rpc<Request, Response>,
    request: Request,
    options: RecordedOptions,
  ): RecordedCall<Response>;
}

/** Identifies one call in the logs of controller, provider and cloud. */
export interface CallId {
  readonly requestId: string;
  /** W3C trace context of a call without a span. */
  readonly traceparent: string;
}

export interface CallIds {
  next(): CallId;
}

/** Length of a W3C span id in hexadecimal digits. */
const SPAN_DIGITS = 16;

/** IDs from random UUIDs. The trace is not sampled, so that no provider starts one. */
export function callIdsOf(newId: () => string): CallIds {
  return {
    next: () => {
      const requestId = newId();
      const digits = requestId.replaceAll("-", "");
      return { requestId, traceparent: `00-${digits}-${digits.slice(0, SPAN_DIGITS)}-00` };
    },
  };
}

/** A field that violates the contract. */
export interface BrokenRule {
  readonly reason: "FIELD_MISSING" | "FIELD_TOO_LARGE" | "FIELD_INVALID";
  /** Path in proto field syntax: `addresses[0].address`. */
  readonly field: string;
  readonly description: string;
}

/** Fields of an outgoing message that violate the contract; the receiver checks formats. One invalid item would fail its whole batch. */
export function brokenRules(
  messageName: string,
  message: object,
  rules: FieldRules = fieldRules,
): readonly BrokenRule[] {
  const byName = new Map(Object.entries(message));
  return (rules[messageName] ?? []).flatMap((rule) => {
    const problems = fieldProblems(rule, fieldValue(rule, byName), rules);
    return problems.map(({ field, ...problem }) => ({ ...problem, field: `${rule.name}${field}` }));
  });
}

/** {@link brokenRules} of one item of a batch as an error; undefined: valid. */
export function brokenItem(messageName: string, item: object, what: string): ProviderError | undefined {
  const broken = brokenRules(messageName, item);
  const [first] = broken;
  if (first === undefined) return undefined;
  const problems = broken.map(({ field, description }) => `${field}: ${description}`);
  return contractError(first.reason, `${what}: ${problems.join("; ")}`, { fieldViolations: broken });
}

/** Limits of one field, for values that can be truncated. */
export function limitsOf(
  messageName: string,
  fieldName: string,
): { readonly maxBytes: number; readonly maxItems: number } {
  const rule = fieldRules[messageName]?.find(({ name }) => name === fieldName);
  return { maxBytes: rule?.maxBytes ?? Infinity, maxItems: rule?.maxItems ?? Infinity };
}

type FieldRule = FieldRules[string][number];

/** A member of a oneof is in `oneof: { $case, value }`. */
function fieldValue({ oneof, jsonName }: FieldRule, byName: ReadonlyMap<string, unknown>): unknown {
  if (oneof === undefined) return byName.get(jsonName);
  const chosen = byName.get(oneof);
  if (!isObject(chosen) || !("$case" in chosen) || chosen.$case !== jsonName) return undefined;
  return "value" in chosen ? chosen.value : undefined;
}

/** `field` of the results is relative to the field. */
function fieldProblems(rule: FieldRule, value: unknown, rules: FieldRules): readonly BrokenRule[] {
  if (isEmpty(value) && rule.oneof === undefined && rule.required === true) {
    return [{ reason: "FIELD_MISSING", field: "", description: "missing" }];
  }
  if (typeof value === "string") return tooMuch("bytes", Buffer.byteLength(value), rule.maxBytes);
  if (typeof value === "number") return outOfRange(value, rule);
  if (Array.isArray(value)) return listProblems(value, rule, rules);
  if (!isObject(value)) return [];
  if (rule.kind === "map") return mapProblems(value, rule);
  return rule.message === undefined ? [] : inner(brokenRules(rule.message, value, rules), "");
}

function listProblems(items: readonly unknown[], rule: FieldRule, rules: FieldRules): readonly BrokenRule[] {
  const { message, maxItems, maxBytes } = rule;
  const tooMany = tooMuch("items", items.length, maxItems);
  if (tooMany.length > 0) return tooMany;
  return items.flatMap((item, index) => {
    if (typeof item === "string") return inner(tooMuch("bytes", Buffer.byteLength(item), maxBytes), `[${index}]`, "");
    return message === undefined || !isObject(item) ? [] : inner(brokenRules(message, item, rules), `[${index}]`);
  });
}

function mapProblems(map: object, { maxTotalBytes, maxItems }: FieldRule): readonly BrokenRule[] {
  const entries = Object.entries(map);
  const tooMany = tooMuch("entries", entries.length, maxItems);
  if (tooMany.length > 0 || maxTotalBytes === undefined) return tooMany;
  const bytes = entries.reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)),
    0,
  );
  return tooMuch("bytes", bytes, maxTotalBytes);
}

function inner(problems: readonly BrokenRule[], prefix: string, dot = "."): readonly BrokenRule[] {
  return problems.map((problem) => ({ ...problem, field: `${prefix}${dot}${problem.field}` }));
}

function tooMuch(unit: string, count: number, allowed: number | undefined): readonly BrokenRule[] {
  if (allowed === undefined || count <= allowed) return [];
  return [{ reason: "FIELD_TOO_LARGE", field: "", description: `${count} ${unit}, ${allowed} allowed` }];
}

function outOfRange(value: number, { min, max }: FieldRule): readonly BrokenRule[] {
  if ((min === undefined || value >= min) && (max === undefined || value <= max)) return [];
  const range = `${min ?? "any"} to ${max ?? "any"} allowed`;
  return [{ reason: "FIELD_INVALID", field: "", description: `${value}, ${range}` }];
}

/** Values that proto3 does not distinguish from an absent field. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === "" || value === 0 || (Array.isArray(value) && value.length === 0);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
