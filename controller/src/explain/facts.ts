import type { Fact, ProviderStatus } from "@cloudwire/operator-api";
import type { Node } from "../api/node.ts";
import type { Service } from "../api/service.ts";
import { isReady } from "../controllers/node-lifecycle/predicates.ts";
import { reportedReadiness } from "../controllers/service/plan/status.ts";
import type { ProviderInfo } from "../provider/model/info.ts";
import type { ProviderSnapshot } from "../provider/sidecar.ts";
import { iso } from "../util/text.ts";

/** In display order. Use kubectl for labels and annotations. */
export function factsOfNode({ metadata, spec, status }: Node): readonly Fact[] {
  const ready = status.conditions.find(({ type }) => type === "Ready");
  return nonEmpty([
    ["uid", metadata.uid],
    ["provider ID", spec.providerID],
    ["ready", isReady({ metadata, spec, status }) ? "yes" : `no${ready === undefined ? "" : `, ${ready.reason}`}`],
    ["addresses", status.addresses.map(({ type, address }) => `${type} ${address}`).join(", ")],
    ["pod CIDRs", spec.podCIDRs.join(", ")],
    ["taints", spec.taints.map(({ key, effect }) => `${key}:${effect}`).join(", ")],
    ["finalizers", metadata.finalizers.join(", ")],
    ["deletion requested", timeOf(metadata.deletionTimestampMs)],
  ]);
}

export function factsOfRoute({ metadata, spec, status }: Node): readonly Fact[] {
  const network = status.conditions.find(({ type }) => type === "NetworkUnavailable");
  return nonEmpty([
    ["node", metadata.name],
    ["provider ID", spec.providerID],
    ["pod CIDRs", spec.podCIDRs.join(", ")],
    ["NetworkUnavailable", network === undefined ? "" : `${network.status}, ${network.reason}`],
  ]);
}

export function factsOfService(service: Service): readonly Fact[] {
  const { metadata, spec, status } = service;
  const reported = reportedReadiness(service);
  return nonEmpty([
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
    ["condition", reported === undefined ? "" : `${reported.status}, ${reported.reason}`],
    ["finalizers", metadata.finalizers.join(", ")],
    ["deletion requested", timeOf(metadata.deletionTimestampMs)],
  ]);
}

export function factsOfProvider({ address, info, status, calls }: ProviderSnapshot): readonly Fact[] {
  return [
    { name: "address", value: address },
    ...(info === undefined ? [] : declared(info)),
    ...nonEmpty([
      ["last cloud response", timeOf(status?.lastCloudSuccessTimeMs)],
      ["credentials expire", timeOf(status?.credentialsExpireTimeMs)],
      ["calls", `${calls.inFlight} in flight, ${calls.waiting} queued, limit ${calls.limit}`],
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
  return nonEmpty([
    ["name", name],
    ["version", version],
    ["contract", `1.${contractMinor}`],
    ["scope", scopeId],
    ["provider-ID prefixes", providerIdPrefixes.join(", ")],
    ["capabilities", offered.join(", ")],
    ["load-balancer classes", loadBalancers?.classes.join(", ") ?? ""],
    ["load-balancer protocols", loadBalancers?.protocols.join(", ") ?? ""],
    ["load-balancer IP families", loadBalancers?.ipFamilies.join(", ") ?? ""],
    ["route IP families", routes?.ipFamilies.join(", ") ?? ""],
  ]);
}

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

function nonEmpty(facts: readonly (readonly [name: string, value: string])[]): readonly Fact[] {
  return facts.flatMap(([name, value]) => (value === "" ? [] : [{ name, value }]));
}

function timeOf(atMs: number | undefined): string {
  return atMs === undefined ? "" : iso(atMs);
}
