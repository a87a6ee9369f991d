import type { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import type { CallStats as WireCallStats, Diagnostic, PlannedChange } from "@cloudwire/proto/cloudprovider/v1/common";
import { type MethodName, methodRules } from "@cloudwire/proto/methods";
import { RuleChecker } from "@cloudwire/proto/rule-checker";
import { fieldRules } from "@cloudwire/proto/rules";
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

/** The contract's field rules, of requests and of responses. */
export const RULES = new RuleChecker();

/** Why one item of a batch must not be sent: the provider would reject the whole batch. undefined: it may be sent. */
export function brokenItem(messageName: string, item: object, what: string): ProviderError | undefined {
  const broken = RULES.check(messageName, item);
  const [first] = broken;
  if (first === undefined) return undefined;
  const problems = broken.map(({ field, description }) => `${field} ${description}`);
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
