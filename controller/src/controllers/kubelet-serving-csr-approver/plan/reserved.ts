import type { Node } from "../../../api/node.ts";
import { CONTROL_PLANE_ROLE } from "../../../api/well-known.ts";
import { type Cidr, contains } from "../../../util/cidr.ts";
import { parseAddress } from "../../../util/values/address-kind.ts";
import { type Claim, type InstanceObjection, type Objection, listed, objection } from "./claim.ts";

/** Addresses that belong to the cluster. */
export type ClusterAddresses =
  | { readonly kind: "known"; readonly services: readonly Cidr[]; readonly apiServers: readonly Cidr[] }
  | { readonly kind: "unknown"; readonly message: string };

/**
 * Why the claim must not be approved whatever the cloud reports: with a certificate for a Service or an API server, a kubelet could pose as
 * it. A control-plane node has the address of its API server; a kubelet cannot set that label itself.
 */
export function reservedObjection(
  { ipAddresses, dnsNames }: Claim,
  node: Node,
  cluster: ClusterAddresses,
): Objection<InstanceObjection> | undefined {
  const claimed = [...ipAddresses, ...dnsNames].flatMap((text) => {
    const address = parseAddress(text);
    return address === undefined ? [] : [{ text, address }];
  });
  if (claimed.length === 0) return undefined;
  if (cluster.kind === "unknown") {
    return objection("clusterUnknown", `could not read the addresses of the cluster: ${cluster.message}`);
  }
  const { services, apiServers } = cluster;
  const reserved = CONTROL_PLANE_ROLE in node.metadata.labels ? services : [...services, ...apiServers];
  const wrong = claimed.filter(({ address }) => reserved.some((range) => contains(range, address)));
  if (wrong.length === 0) return undefined;
  return objection(
    "addressReserved",
    `these are addresses of Services or API servers: ${listed(wrong.map(({ text }) => text))}`,
  );
}
