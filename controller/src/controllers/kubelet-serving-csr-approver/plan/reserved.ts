import type { Node } from "../../../api/node.ts";
import { CONTROL_PLANE_ROLE } from "../../../api/well-known.ts";
import { type Cidr, canonicalIp, contains } from "../../../util/cidr.ts";
import { parseAddress } from "../../../util/cidr.ts";
import { type Claim, type InstanceObjection, type Objection, listed, objection } from "./claim.ts";

/** Addresses that belong to the cluster. */
export type ClusterAddresses =
  | { readonly kind: "known"; readonly services: readonly Cidr[]; readonly apiServers: readonly Cidr[] }
  | { readonly kind: "unknown"; readonly message: string };

export interface Reserved {
  readonly cluster: ClusterAddresses;
  /** Host name or IP address at which the API server is called: one of a load balancer, or virtual, is in no EndpointSlice. */
  readonly apiServerHost: string;
}

/**
 * Why the claim must not be approved whatever the cloud reports: with a certificate for a Service or an API server, a kubelet could pose as
 * it. A control-plane node has the address of its API server; a kubelet cannot set that label itself.
 */
export function reservedObjection(
  claim: Claim,
  node: Node,
  { cluster, apiServerHost }: Reserved,
): Objection<InstanceObjection> | undefined {
  const texts = [...claim.ipAddresses, ...claim.dnsNames];
  const isControlPlane = CONTROL_PLANE_ROLE in node.metadata.labels;
  const host = canonicalIp(apiServerHost).toLowerCase();
  const ofHost = texts.filter((text) => !isControlPlane && canonicalIp(text) === host);
  if (ofHost.length > 0) return addressReserved(ofHost);
  const claimed = texts.flatMap((text) => {
    const address = parseAddress(text);
    return address === undefined ? [] : [{ text, address }];
  });
  if (claimed.length === 0) return undefined;
  if (cluster.kind === "unknown") {
    return objection("clusterUnknown", `could not read the addresses of the cluster: ${cluster.message}`);
  }
  const { services, apiServers } = cluster;
  const reserved = isControlPlane ? services : [...services, ...apiServers];
  const wrong = claimed.filter(({ address }) => reserved.some((range) => contains(range, address)));
  return wrong.length === 0 ? undefined : addressReserved(wrong.map(({ text }) => text));
}

function addressReserved(wrong: readonly string[]): Objection<InstanceObjection> {
  return objection("addressReserved", `these are addresses of Services or API servers: ${listed(wrong)}`);
}
