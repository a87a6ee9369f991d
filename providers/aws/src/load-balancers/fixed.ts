import type { AvailabilityZone } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { NlbSpec } from "./desired/nlb-spec.ts";
import type { SeenBalancer } from "./reader.ts";
import type { KnownSubnet } from "./subnets.ts";
import type { Work } from "./tools.ts";

/** The static addresses of a load balancer in a subnet. AWS never changes them. */
interface StaticAddress {
  readonly AllocationId?: string | undefined;
  readonly PrivateIPv4Address?: string | undefined;
}

const prefix = "service.beta.kubernetes.io/aws-load-balancer-";

/** True: the load balancer has only addresses of the VPC, whatever the Service requests now. */
export function isInternal(balancer: SeenBalancer | undefined, nlb: Pick<NlbSpec, "isInternal">): boolean {
  return balancer ? balancer.details.Scheme === "internal" : nlb.isInternal;
}

/** The static addresses by the IDs of subnets. */
export function fixedAddresses({ details }: SeenBalancer): ReadonlyMap<string, StaticAddress> {
  const zones: readonly AvailabilityZone[] = details.AvailabilityZones ?? [];
  return new Map(
    zones.flatMap(({ SubnetId, LoadBalancerAddresses: [address = {}] = [] }) => {
      const { AllocationId, PrivateIPv4Address } = address;
      return SubnetId === undefined ? [] : [[SubnetId, { AllocationId, PrivateIPv4Address }] as const];
    }),
  );
}

/** Reports which requested changes AWS does not support on an existing load balancer. */
export function reportFixed(
  balancer: SeenBalancer,
  nlb: NlbSpec,
  subnets: readonly KnownSubnet[],
  { context }: Work,
): void {
  const { name, details } = balancer;
  const scheme = nlb.isInternal ? "internal" : "internet-facing";
  if (details.Scheme !== scheme) {
    const summary = `Load balancer ${name} stays ${details.Scheme}: recreate the Service to make it ${scheme}`;
    context.addDiagnostic({ reason: "SchemeKept", summary, field: fieldOf("internal") });
  }
  const present = fixedAddresses(balancer);
  const keeps = (wanted: readonly string[], of: (address: StaticAddress) => string | undefined): boolean =>
    subnets.some(({ id }, index) => present.has(id) && of(present.get(id) ?? {}) !== wanted[index]);
  for (const [annotation, wanted, of] of [
    ["eip-allocations", nlb.allocationIds, ({ AllocationId }: StaticAddress) => AllocationId],
    ["private-ipv4-addresses", nlb.privateAddresses, ({ PrivateIPv4Address }: StaticAddress) => PrivateIPv4Address],
  ] as const) {
    if (!keeps(wanted, of)) continue;
    const summary = `Load balancer ${name} keeps its addresses: recreate the Service to apply annotation ${prefix}${annotation}`;
    context.addDiagnostic({ reason: "AddressesKept", summary, field: fieldOf(annotation) });
  }
}

function fieldOf(annotation: string): string {
  return `spec.annotations[${JSON.stringify(prefix + annotation)}]`;
}
