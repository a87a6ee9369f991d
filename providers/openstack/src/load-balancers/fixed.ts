import type { ChangeContext, DesiredLoadBalancer } from "@cloudwire/provider-sdk";
import { canonicalAddress } from "@cloudwire/provider-sdk/addresses";
import { readAnnotations } from "./annotations.ts";
import type { Balancer } from "./octavia.ts";

/** Annotations for fields that Octavia sets only on creation, and the fields. */
const fixed = {
  "subnet-id": "vip_subnet_id",
  "network-id": "vip_network_id",
  "port-id": "vip_port_id",
  "flavor-id": "flavor_id",
  "availability-zone": "availability_zone",
} as const satisfies Readonly<Record<string, keyof Balancer>>;

/** Reports which requested changes Octavia does not support on an existing load balancer. */
export function reportFixed(
  balancer: Balancer,
  { annotations, requestedIps: [requested] }: Pick<DesiredLoadBalancer, "annotations" | "requestedIps">,
  hasFloatingIp: boolean,
  context: Pick<ChangeContext, "addDiagnostic">,
): void {
  const read = readAnnotations(annotations);
  // The most specific one applies; the others have no effect.
  const place = (["port-id", "subnet-id", "network-id"] as const).find((key) => read.string(key) !== undefined);
  for (const key of [place, "flavor-id", "availability-zone"] as const) {
    const wanted = key && read.string(key);
    if (key === undefined || wanted === undefined || wanted === balancer[fixed[key]]) continue;
    const annotation = `loadbalancer.openstack.org/${key}`;
    const summary = `Load balancer ${balancer.name} keeps its ${fixed[key]}: recreate the Service to apply annotation ${annotation}`;
    context.addDiagnostic({ reason: "SettingKept", summary, field: `spec.annotations[${JSON.stringify(annotation)}]` });
  }
  const address = balancer.vip_address ?? "";
  if (hasFloatingIp || requested === undefined || canonicalAddress(requested) === canonicalAddress(address)) return;
  const summary = `Load balancer ${balancer.name} keeps address ${address}: recreate the Service to get ${requested}`;
  context.addDiagnostic({ reason: "AddressesKept", summary, field: "spec.requested_ips[0]" });
}
