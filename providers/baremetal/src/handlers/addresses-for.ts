import { ProviderError, type DesiredLoadBalancer } from "@cloudwire/provider-sdk";
import type { Config } from "../config/config.ts";
import { type Allocated, type AllocationProblem, allocate } from "../plan/addresses.ts";
import type { LoadBalancerRecord, Placement, State } from "../state/state.ts";
import { poolInvalid } from "./annotations.ts";

/** The addresses of a load balancer: existing or free ones. @throws ProviderError if there is none */
export function addressesFor(
  { pools }: Config,
  { loadBalancers, placements }: State,
  onInterfaces: readonly Placement[],
  { key, ipFamilies, requestedIps }: DesiredLoadBalancer,
  pool: string | undefined,
  existing: LoadBalancerRecord | undefined,
): readonly Allocated[] {
  const owners = new Map(
    onInterfaces
      .filter(({ address }) => !placements.some((placement) => placement.address === address))
      .map(({ address, interface: device }) => [address, `interface ${device} of this machine`]),
  );
  for (const { key: other, service, addresses } of loadBalancers) {
    if (other === key) continue;
    for (const { address } of addresses) owners.set(address, `Service ${service.namespace}/${service.name}`);
  }
  const request = { families: ipFamilies, requestedIps, pool, current: existing?.addresses ?? [] };
  const found = allocate(pools, request, (address) => owners.get(address));
  if ("kind" in found) throw toError(found);
  return found;
}

function toError({ kind, message, address }: AllocationProblem): ProviderError {
  switch (kind) {
    case "inUse":
      return new ProviderError("ADDRESS_IN_USE", message, { metadata: { address: address ?? "" } });
    case "outside":
      return new ProviderError("FIELD_INVALID", message, { field: "spec.requested_ips[0]" });
    case "exhausted":
      return new ProviderError("QUOTA_EXCEEDED", message, {
        quota: { subject: "address pools", description: message },
      });
    case "unknownPool":
      return poolInvalid(message);
  }
  return kind satisfies never;
}
