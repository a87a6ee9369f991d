import { createHash } from "node:crypto";
import type { EnsureLoadBalancerRequest } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { NodeAddressType } from "@cloudwire/proto/cloudprovider/v1/common";
import { Protocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { ProviderClient } from "./provider-client.ts";

/** What of a load balancer a test wants to be special. */
export interface EnsureRequestOptions {
  /** Namespace and name of the Service. Default: `default/web`. */
  readonly service?: string | undefined;
  /** UID of the Service. Default: made of its name. */
  readonly uid?: string | undefined;
  /** TCP ports; the node port is 30000 and the port. Default: 80. */
  readonly ports?: readonly number[] | undefined;
  /** Nodes that take traffic: their names to their provider IDs. Default: none. */
  readonly nodes?: Readonly<Record<string, string>> | undefined;
  /** More of the spec, in the contract's words. */
  readonly spec?: Partial<NonNullable<EnsureLoadBalancerRequest["spec"]>> | undefined;
}

/** A request for `ensureLoadBalancer`. */
export type EnsureRequest = NonNullable<Parameters<ProviderClient["ensureLoadBalancer"]>[0]>;

/** How the contract names a Service; `default/web`. */
export const serviceRef = (
  service: string,
  uid = `uid-of-${service}`,
): { readonly namespace: string; readonly name: string; readonly uid: string } => {
  const [namespace = "", name = ""] = service.split("/");
  return { namespace, name, uid };
};

/** A valid request for `ensureLoadBalancer`, fingerprints included: they change when what they stand for does. */
export const ensureRequest = (options: EnsureRequestOptions = {}): EnsureRequest => {
  const { service = "default/web", ports = [80], nodes = {} } = options;
  const targets = Object.entries(nodes).map(([name, providerId], index) => ({
    name,
    providerId,
    addresses: [{ type: NodeAddressType.INTERNAL_IP, address: `10.0.${Math.floor(index / 250)}.${(index % 250) + 1}` }],
  }));
  const spec = {
    ports: ports.map((port) => ({ name: `p${port}`, protocol: Protocol.TCP, port, nodePort: 30_000 + (port % 2_768) })),
    ...options.spec,
  };
  return {
    service: serviceRef(service, options.uid),
    spec,
    specFingerprint: fingerprint(spec),
    nodes: {
      fingerprint: fingerprint(targets),
      count: targets.length,
      source: { $case: "inline" as const, value: { nodes: targets } },
    },
  };
};

const fingerprint = (value: unknown): string =>
  createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
