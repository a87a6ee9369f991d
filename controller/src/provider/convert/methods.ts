import type { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import type { CallStats as WireCallStats } from "@cloudwire/proto/cloudprovider/v1/common";
import { type MethodName, methodRules } from "@cloudwire/proto/methods";
import { type FieldRule, fieldRules } from "@cloudwire/proto/rules";
import type { FieldRules } from "@cloudwire/proto/secrets";
import type { CallStats, QuotaClass } from "../model/call-rate.ts";
import { type ProviderError, contractError } from "../model/errors.ts";
import { durationMs } from "./scalars.ts";

/** Turns messages of one type to bytes and back. */
export interface Codec<Message> {
  encode(message: Message): BinaryWriter;
  decode(bytes: BinaryReader | Uint8Array): Message;
  toJSON(message: Message): unknown;
}

/** One RPC of the contract and how this program calls it. */
export interface Rpc<Request, Response> {
  readonly name: MethodName;
  readonly path: string;
  /** 0: a stream, which has none. */
  readonly timeoutMs: number;
  /** Changes are never repeated by the client, and are held back while the provider's scope is not trusted. */
  readonly isChange: boolean;
  /** Budget the call is charged to; undefined: it does not ask the cloud. */
  readonly quotaClass: QuotaClass | undefined;
  readonly request: Codec<Request>;
  readonly response: Codec<Response>;
  /** What the answer cost at the cloud, for answers that tell. */
  stats(response: Response): CallStats | undefined;
}

interface Definition<Request, Response> {
  readonly name: MethodName;
  readonly requestType: Codec<Request>;
  readonly responseType: Codec<Response>;
}

const { methods, fullName } = CloudProviderDefinition;

/** Every RPC this program calls. Deadlines and kinds are the contract's. */
export const RPCS = {
  getProviderInfo: rpc(methods.getProviderInfo, undefined, withoutStats),
  getProviderStatus: rpc(methods.getProviderStatus, undefined, withoutStats),
  batchGetInstances: rpc(methods.batchGetInstances, "instances", statsOf),
  listInstances: rpc(methods.listInstances, "instances", statsOf),
  watchInstances: rpc(methods.watchInstances, "instances", withoutStats),
  getLoadBalancer: rpc(methods.getLoadBalancer, "load_balancers", statsOf),
  listLoadBalancers: rpc(methods.listLoadBalancers, "load_balancers", statsOf),
  ensureLoadBalancer: rpc(methods.ensureLoadBalancer, "load_balancers", statsOf),
  updateLoadBalancerNodes: rpc(methods.updateLoadBalancerNodes, "load_balancers", statsOf),
  deleteLoadBalancer: rpc(methods.deleteLoadBalancer, "load_balancers", statsOf),
  watchLoadBalancers: rpc(methods.watchLoadBalancers, "load_balancers", withoutStats),
  applyNodeSet: rpc(methods.applyNodeSet, undefined, withoutStats),
  listRoutes: rpc(methods.listRoutes, "routes", statsOf),
  batchEnsureRoutes: rpc(methods.batchEnsureRoutes, "routes", statsOf),
  batchDeleteRoutes: rpc(methods.batchDeleteRoutes, "routes", statsOf),
  batchGetVolumes: rpc(methods.batchGetVolumes, "volumes", statsOf),
} as const;

/** Full name of the message a call sends, the key of the contract's field rules. */
export function requestMessage(name: MethodName): string {
  return `cloudprovider.v1.${name}Request`;
}

/** Full name of the message a call is answered with. */
export function responseMessage(name: MethodName): string {
  return `cloudprovider.v1.${name}Response`;
}

function rpc<Request, Response>(
  { name, requestType, responseType }: Definition<Request, Response>,
  quotaClass: QuotaClass | undefined,
  stats: (response: Response) => CallStats | undefined,
): Rpc<Request, Response> {
  const { deadlineMs, change } = methodRules[name];
  return {
    name,
    path: `/${fullName}/${name}`,
    timeoutMs: deadlineMs,
    isChange: change,
    quotaClass,
    request: requestType,
    response: responseType,
    stats,
  };
}

function statsOf({ stats }: { readonly stats: WireCallStats | undefined }): CallStats | undefined {
  if (stats === undefined) return undefined;
  const { cloudCalls, cloudMutations, cloudRetries, throttled, dataAge, cloudRequestIds } = stats;
  return { cloudCalls, cloudMutations, cloudRetries, throttled, dataAgeMs: durationMs(dataAge), cloudRequestIds };
}

function withoutStats(): undefined {
  return undefined;
}

/** What goes with one call. */
export interface RpcOptions {
  readonly signal: AbortSignal;
  /** The same in our log and the provider's. */
  readonly requestId: string;
  readonly traceparent: string;
  /** @default the contract's for the RPC */
  readonly timeoutMs?: number;
}

/** Makes calls; everything that adds to a call (limits, retries, metrics) is one of these around another. */
export interface RpcCaller {
  /** Rejects with a ProviderError only. */
  unary<Request, Response>(rpc: Rpc<Request, Response>, request: Request, options: RpcOptions): Promise<Response>;
}

/** Where calls go: from one to the next it may be over another connection. */
export interface CallRoute {
  readonly caller: RpcCaller;
}

/** Who calls, on whose behalf, and which change it is: parts of every request that only convert/ looks into. */
export type { CallContext, ChangeContext } from "@cloudwire/proto/cloudprovider/v1/common";

/** How a call ended, as the transport saw it. */
export interface WireStatus {
  /** Canonical gRPC code; 0: with success. */
  readonly code: number;
  readonly message: string;
  /** Trailer `grpc-status-details-bin`, when there is one. */
  readonly details: Uint8Array | undefined;
  /** The caller gave up: what the provider would have answered is not known. */
  readonly isGivenUp: boolean;
}

/** One call under way. */
export interface RecordedCall<Response> {
  /** One message of the answer, and the bytes that it came as. */
  message(response: Response, bytes: Uint8Array): void;
  end(status: WireStatus): void;
}

export interface RecordedOptions {
  readonly requestId: string;
  /** undefined: a stream, which has no deadline. */
  readonly timeoutMs: number | undefined;
}

/** Sees what goes over the wire, each try by itself. Never throws, never waits. */
export interface WireRecorder {
  begin<Request, Response>(
    rpc: Rpc<Request, Response>,
    request: Request,
    options: RecordedOptions,
  ): RecordedCall<Response>;
}

/** What tells one call from all others, in our log, the provider's and the cloud's. */
export interface CallId {
  readonly requestId: string;
  /** W3C trace context of the call where nothing traces it. */
  readonly traceparent: string;
}

export interface CallIds {
  next(): CallId;
}

/** Length of a W3C span id in hexadecimal digits. */
const SPAN_DIGITS = 16;

/** Ids from random UUIDs; each with a trace of its own that nobody exports, so that no provider begins one. */
export function callIdsOf(newId: () => string): CallIds {
  return {
    next: () => {
      const requestId = newId();
      const digits = requestId.replaceAll("-", "");
      return { requestId, traceparent: `00-${digits}-${digits.slice(0, SPAN_DIGITS)}-00` };
    },
  };
}

/** A field that does not keep to the contract. */
export interface BrokenRule {
  readonly reason: "FIELD_MISSING" | "FIELD_TOO_LARGE" | "FIELD_INVALID";
  /** Path in proto field syntax: `addresses[0].address`. */
  readonly field: string;
  readonly description: string;
}

/**
 * Which fields of a message that is to be sent, or of those within it, the contract does not allow. Formats are the receiver's to
 * judge. A batch with one such item is refused whole, so the item is kept back.
 */
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

/** {@link brokenRules} of one item of a batch as the error that it is answered with; undefined: it may be sent. */
export function brokenItem(messageName: string, item: object, what: string): ProviderError | undefined {
  const broken = brokenRules(messageName, item);
  const [first] = broken;
  if (first === undefined) return undefined;
  const problems = broken.map(({ field, description }) => `${field}: ${description}`);
  return contractError(first.reason, `${what}: ${problems.join("; ")}`, { fieldViolations: broken });
}

/** Limits of one field, for what can be cut down to them before it is sent. */
export function limitsOf(
  messageName: string,
  fieldName: string,
): { readonly maxBytes: number; readonly maxItems: number } {
  const rule = fieldRules[messageName]?.find(({ name }) => name === fieldName);
  return { maxBytes: rule?.maxBytes ?? Infinity, maxItems: rule?.maxItems ?? Infinity };
}

/** A member of a oneof stands in `oneof: { $case, value }`. */
function fieldValue({ oneof, jsonName }: FieldRule, byName: ReadonlyMap<string, unknown>): unknown {
  if (oneof === undefined) return byName.get(jsonName);
  const chosen = byName.get(oneof);
  if (!isObject(chosen) || !("$case" in chosen) || chosen.$case !== jsonName) return undefined;
  return "value" in chosen ? chosen.value : undefined;
}

/** `field` of the answers continues the path of the field itself. */
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

/** What proto3 cannot tell from a field that is not there. */
function isEmpty(value: unknown): boolean {
  return value === undefined || value === "" || value === 0 || (Array.isArray(value) && value.length === 0);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
