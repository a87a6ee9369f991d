import type { LoadBalancer } from "@cloudwire/provider-sdk";
import type { DataPlane } from "../forwarding/data-plane.ts";
import type { LoadBalancerRecord } from "../state/state.ts";

/** The load balancer in the form of the contract. Changes not yet applied are reported as in progress. */
export function toLoadBalancer(record: LoadBalancerRecord, dataPlane: Pick<DataPlane, "problemOf">): LoadBalancer {
  const { key, service, addresses, targets, tags, specFingerprint, nodesFingerprint, isDeleting } = record;
  const common = {
    id: key,
    service,
    ingress: addresses.map(({ address }) => ({ ip: address, ipMode: "Proxy" as const })),
    registeredNodes: targets.length,
    tags,
  };
  if (isDeleting)
    return { ...common, phase: "DELETING", operation: { pollAfterMs: 2_000, stage: "removing its parts" } };
  if (dataPlane.problemOf(record) === undefined) return { ...common, specFingerprint, nodesFingerprint };
  return { ...common, phase: "UPDATING", operation: { pollAfterMs: 2_000, stage: "changing what forwards" } };
}
