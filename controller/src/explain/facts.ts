import type { Fact, ProviderStatus } from "@cloudwire/operator-api";
import type { Node } from "../api/node.ts";
import type { Service } from "../api/service.ts";
import { isReady } from "../controllers/node-lifecycle/predicates.ts";
import { reportedReadiness } from "../controllers/service/plan/status.ts";
import type { ProviderInfo } from "../provider/model/info.ts";
import type { ProviderSnapshot } from "../provider/sidecar.ts";
import { iso } from "../util/text.ts";

/** What is known of a Node, in the order in which it is to be shown. Labels and annotations are left to kubectl. */
export function factsOfNode({ metadata, spec, status }: Node): readonly Fact[] {
  const ready = status.conditions.find(({ type }) => type === "Ready");
  return stated([
    ["uid", metadata.uid],
    ["provider ID", spec.providerID],
    ["ready", isReady({ metadata, spec, status }) ? "yes" : `no${ready === undefined ? "" : `, ${ready.reason}`}`],
    ["addresses", status.addresses.map(({ type, address }) => `${type} ${address}`).join(", ")],
    ["pod addresses", spec.podCIDRs.join(", ")],
    ["taints", spec.taints.map(({ key, effect }) => `${key}:${effect}`).join(", ")],
    ["finalizers", metadata.finalizers.join(", ")],
    ["being deleted since", timeOf(metadata.deletionTimestampMs)],
  ]);
}

/** The same of its routes. */
export function factsOfRoute({ metadata, spec, status }: Node): readonly Fact[] {
  const network = status.conditions.find(({ type }) => type === "NetworkUnavailable");
  return stated([
    ["node", metadata.name],
    ["provider ID", spec.providerID],
    ["pod addresses", spec.podCIDRs.join(", ")],
    ["NetworkUnavailable", network === undefined ? "" : `${network.status}, ${network.reason}`],
  ]);
}

export function factsOfService(service: Service): readonly Fact[] {
  const { metadata, spec, status } = service;
  const told = reportedReadiness(service);
  return stated([
    ["uid", metadata.uid],
    ["type", spec.type],
    ["load-balancer class", spec.loadBalancerClass ?? "none: the default provider's"],
    [
      "ports",
      spec.ports.map(({ port, protocol, nodePort }) => `${port}/${protocol} (node port ${nodePort})`).join(", "),
    ],
    ["IP families", spec.ipFamilies.join(", ")],
    ["external traffic policy", spec.externalTrafficPolicy],
    ["addresses", status.loadBalancer.ingress.map(({ ip, hostname }) => (ip === "" ? hostname : ip)).join(", ")],
    ["condition", told === undefined ? "" : `${told.status}, ${told.reason}`],
    ["finalizers", metadata.finalizers.join(", ")],
    ["being deleted since", timeOf(metadata.deletionTimestampMs)],
  ]);
}

export function factsOfProvider({ address, info, status, calls }: ProviderSnapshot): readonly Fact[] {
  return [
    { name: "address", value: address },
    ...(info === undefined ? [] : declared(info)),
    ...stated([
      ["last answer of its cloud", timeOf(status?.lastCloudSuccessTimeMs)],
      ["credentials expire", timeOf(status?.credentialsExpireTimeMs)],
      ["calls", `${calls.inFlight} under way, ${calls.waiting} wait, ${calls.limit} at once`],
    ]),
  ];
}

/** By its last handshake. */
function declared({
  name,
  version,
  contractMinor,
  scopeId,
  providerIdPrefixes,
  capabilities,
}: ProviderInfo): readonly Fact[] {
  const offered = Object.entries(capabilities).flatMap(([group, offer]) => (offer === undefined ? [] : [group]));
  const { loadBalancers, routes } = capabilities;
  return stated([
    ["name", name],
    ["version", version],
    ["contract", `1.${contractMinor}`],
    ["scope", scopeId],
    ["provider-ID prefixes", providerIdPrefixes.join(", ")],
    ["offers", offered.join(", ")],
    ["load-balancer classes", loadBalancers?.classes.join(", ") ?? ""],
    ["load-balancer protocols", loadBalancers?.protocols.join(", ") ?? ""],
    ["load-balancer IP families", loadBalancers?.ipFamilies.join(", ") ?? ""],
    ["route IP families", routes?.ipFamilies.join(", ") ?? ""],
  ]);
}

/** As much of a provider as matters for one of its objects. */
export function providerStatus(snapshot: ProviderSnapshot, nowMs: number): ProviderStatus {
  const { name, connection, health, untrustedReason: absenceIgnored, budgets } = snapshot;
  return {
    name,
    connection,
    ready: health.ready,
    reasons: health.reasons.map(({ name: reason, message }) => `${reason}: ${message}`),
    ...(absenceIgnored === undefined ? {} : { absenceIgnored }),
    throttled: budgets.flatMap(({ classes, heldMs }) =>
      heldMs > 0 ? classes.map((quotaClass) => ({ quotaClass, untilTime: iso(nowMs + heldMs) })) : [],
    ),
  };
}

function stated(facts: readonly (readonly [name: string, value: string])[]): readonly Fact[] {
  return facts.flatMap(([name, value]) => (value === "" ? [] : [{ name, value }]));
}

function timeOf(atMs: number | undefined): string {
  return atMs === undefined ? "" : iso(atMs);
}
