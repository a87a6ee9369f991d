import type { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import type { CallStats as WireCallStats } from "@cloudwire/proto/cloudprovider/v1/common";
import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { type MethodName, methodRules } from "@cloudwire/proto/methods";
import type { CallStats, QuotaClass } from "../model/call-rate.ts";
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
  /** Changes are never repeated by the client, and are held back while the provider's scope is in doubt. */
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
