import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import type { MethodName } from "@cloudwire/proto/methods";

/** The methods of the contract as generated. */
export const { methods } = CloudProviderDefinition;

/** Full name of the contract's service. */
export const serviceName = CloudProviderDefinition.fullName;

/** What calling a method takes, by its types. */
export interface Method<Partial, Request, Response> {
  readonly name: string;
  readonly requestType: {
    fromPartial(value: Partial): Request;
    encode(message: Request): { finish(): Uint8Array };
    toJSON(message: Request): unknown;
  };
  readonly responseType: { decode(bytes: Uint8Array): Response };
}

/** A method without its types: for checks that treat all methods alike. */
export interface AnyMethod {
  readonly name: string;
  readonly requestType: {
    fromPartial(value: object): unknown;
    encode(message: unknown): { finish(): Uint8Array };
    toJSON(message: unknown): unknown;
  };
  readonly responseType: { decode(bytes: Uint8Array): unknown };
}

/** The methods by their names on the wire. */
export const methodsByName: Readonly<Record<MethodName, AnyMethod>> = {
  GetProviderInfo: methods.getProviderInfo,
  GetProviderStatus: methods.getProviderStatus,
  BatchGetInstances: methods.batchGetInstances,
  ListInstances: methods.listInstances,
  WatchInstances: methods.watchInstances,
  GetLoadBalancer: methods.getLoadBalancer,
  ListLoadBalancers: methods.listLoadBalancers,
  EnsureLoadBalancer: methods.ensureLoadBalancer,
  UpdateLoadBalancerNodes: methods.updateLoadBalancerNodes,
  DeleteLoadBalancer: methods.deleteLoadBalancer,
  WatchLoadBalancers: methods.watchLoadBalancers,
  ApplyNodeSet: methods.applyNodeSet,
  ListRoutes: methods.listRoutes,
  BatchEnsureRoutes: methods.batchEnsureRoutes,
  BatchDeleteRoutes: methods.batchDeleteRoutes,
  BatchGetVolumes: methods.batchGetVolumes,
};
