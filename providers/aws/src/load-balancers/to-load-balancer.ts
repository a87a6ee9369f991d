import { createHash } from "node:crypto";
import type { SecurityGroup } from "@aws-sdk/client-ec2";
import type { LoadBalancer, LoadBalancerPhase, PendingOptions } from "@cloudwire/provider-sdk";
import { fromAwsTags, serviceIn } from "../cloud/ownership.ts";
import type { SeenBalancer, SeenGroup } from "./reader.ts";
import { fromPermissions, ruleKey } from "./security-groups/rules.ts";

/** Tags with the fingerprints of the configuration in effect. */
export const specTag = "cloudwire.dev/spec-fingerprint";
export const nodesTag = "cloudwire.dev/nodes-fingerprint";

/** All that AWS has of a load balancer as far as it can be listed: targets and listeners would cost requests for each. */
export interface Seen {
  readonly balancer: SeenBalancer;
  readonly groups: readonly SeenGroup[];
  readonly securityGroups: readonly SecurityGroup[];
  /** Undefined: not counted. */
  readonly registeredNodes?: number | undefined;
}

const phases: ReadonlyMap<string, LoadBalancerPhase> = new Map([
  ["active", "ACTIVE"],
  ["active_impaired", "ACTIVE"],
  ["provisioning", "PROVISIONING"],
  ["failed", "FAILED"],
]);

/** Provisioning takes minutes. */
const pollAfterMs = 10_000;

/** A load balancer in the form of the contract. Fingerprints are set only for the configuration in effect. */
export function toLoadBalancer(seen: Seen): LoadBalancer {
  const { arn, details, tags } = seen.balancer;
  const code = details.State?.Code ?? "";
  const phase = phases.get(code) ?? "UPDATING";
  const isInForce = phase === "ACTIVE";
  const reason = details.State?.Reason;
  return {
    id: arn,
    service: serviceIn(tags),
    phase,
    // AWS keeps the letter case of the load balancer's name; Kubernetes takes lower case only.
    ...(isInForce && details.DNSName !== undefined ? { ingress: [{ hostname: details.DNSName.toLowerCase() }] } : {}),
    specFingerprint: isInForce ? (tags[specTag] ?? "") : "",
    nodesFingerprint: isInForce ? (tags[nodesTag] ?? "") : "",
    observedFingerprint: observedFingerprint(seen),
    ...(seen.registeredNodes === undefined ? {} : { registeredNodes: seen.registeredNodes }),
    conditions: [
      {
        type: "Provisioned",
        status: isInForce,
        reason: conditionReason(code),
        ...(reason === undefined ? {} : { message: reason }),
      },
    ],
    ...(phase === "PROVISIONING" || phase === "UPDATING" ? { operation: working(code) } : {}),
    tags,
  };
}

function working(code: string): PendingOptions {
  return { pollAfterMs, stage: `${code === "" ? "working" : code} at AWS` };
}

function conditionReason(code: string): string {
  const words = code === "" ? ["unknown"] : code.split("_");
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** A fingerprint of all that someone could change without the provider, and of nothing that changes by itself. */
function observedFingerprint({ balancer, groups, securityGroups }: Seen): string {
  const { Scheme, SecurityGroups = [], AvailabilityZones = [], IpAddressType } = balancer.details;
  const facts = [
    [balancer.name, Scheme, IpAddressType],
    SecurityGroups.toSorted(),
    AvailabilityZones.map(({ SubnetId = "" }) => SubnetId).toSorted(),
    // An update of the nodes leaves it as it is, so that it still shows changes by others before the update.
    sortedTags(balancer.tags).filter(([key]) => key !== nodesTag),
    groups.map(groupFacts).toSorted(),
    securityGroups
      .map(({ GroupId, IpPermissions, Tags }) => [
        GroupId,
        fromPermissions(IpPermissions).map(ruleKey).toSorted(),
        sortedTags(fromAwsTags(Tags)),
      ])
      .map((group) => JSON.stringify(group))
      .toSorted(),
  ];
  return createHash("sha256").update(JSON.stringify(facts)).digest("base64url");
}

function groupFacts({ name, details }: SeenGroup): string {
  const { Protocol, Port, HealthCheckProtocol, HealthCheckPort, HealthCheckPath, LoadBalancerArns = [] } = details;
  const { HealthCheckIntervalSeconds, HealthCheckTimeoutSeconds, HealthyThresholdCount, UnhealthyThresholdCount } =
    details;
  const times = [HealthCheckIntervalSeconds, HealthCheckTimeoutSeconds, HealthyThresholdCount, UnhealthyThresholdCount];
  const facts = [name, Protocol, Port, HealthCheckProtocol, HealthCheckPort, HealthCheckPath, ...times];
  return JSON.stringify([...facts, LoadBalancerArns.length > 0]);
}

function sortedTags(tags: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(tags).toSorted(([left], [right]) => left.localeCompare(right));
}
