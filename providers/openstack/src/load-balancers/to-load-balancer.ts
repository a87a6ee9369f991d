import { createHash } from "node:crypto";
import { type LoadBalancer, type LoadBalancerPhase, taggedService } from "@cloudwire/provider-sdk";
import type { FloatingIp } from "./floating-ips.ts";
import type { Balancer } from "./octavia.ts";
import { fromTags, isNodesTag } from "./ownership.ts";

const phases: ReadonlyMap<string, LoadBalancerPhase> = new Map([
  ["ACTIVE", "ACTIVE"],
  ["PENDING_CREATE", "PROVISIONING"],
  ["PENDING_UPDATE", "UPDATING"],
  ["PENDING_DELETE", "DELETING"],
  ["ERROR", "FAILED"],
]);

/** Those in which Octavia is at work. */
const workingPhases: ReadonlySet<LoadBalancerPhase> = new Set(["PROVISIONING", "UPDATING", "DELETING"]);

/** Octavia changes what runs within seconds; to make a virtual machine takes a minute or two. */
const pollAfterMs = 5_000;

/** The observed state of a load balancer. */
export interface Seen {
  readonly balancer: Balancer;
  /** The address from outside, if it has one. */
  readonly floatingIp?: FloatingIp | undefined;
  /** Other fields that someone could change without the provider. */
  readonly facts?: unknown;
  /** Undefined: not counted. */
  readonly registeredNodes?: number | undefined;
}

/** A load balancer in the form of the contract. Fingerprints are set only for the configuration in effect. */
export function toLoadBalancer({ balancer, floatingIp, facts, registeredNodes }: Seen): LoadBalancer {
  const { id, tags, provisioning_status: status, operating_status: operating } = balancer;
  const ownership = fromTags(tags);
  const phase = phases.get(status) ?? "UPDATING";
  const isInForce = phase === "ACTIVE";
  const ip = floatingIp?.floating_ip_address ?? balancer.vip_address;
  return {
    id,
    service: taggedService(ownership),
    phase,
    // Until everything is created, the internal address is not the final one, so the reported address stays.
    ...(isInForce && ownership.spec !== undefined && ip !== null ? { ingress: [{ ip }] } : {}),
    specFingerprint: isInForce ? (ownership.spec ?? "") : "",
    nodesFingerprint: isInForce ? (ownership.nodes ?? "") : "",
    observedFingerprint: digest([balancer.name, balancer.vip_address, constantTags(tags), floatingIp?.id, facts]),
    ...(registeredNodes === undefined ? {} : { registeredNodes }),
    conditions: [
      { type: "Provisioned", status: isInForce, reason: wordOf(status), message: messageOf(status, operating, id) },
    ],
    ...(workingPhases.has(phase) ? { operation: { pollAfterMs, stage: `${status} at Octavia` } } : {}),
    tags: Object.fromEntries(tags.map((tag) => [tag.split("=", 1)[0] ?? "", tag.slice(tag.indexOf("=") + 1)])),
  };
}

/** The fix for a failed load balancer. */
export function failedMessage(id: string): string {
  return `load balancer ${id} is in state ERROR and accepts no changes: trigger a failover in Octavia, or recreate the Service`;
}

function messageOf(status: string, operating: string, id: string): string {
  return status === "ERROR" ? failedMessage(id) : `Octavia reports ${status}, operating status ${operating}`;
}

/** `PENDING_UPDATE` becomes `PendingUpdate`. */
function wordOf(status: string): string {
  return status
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
    .join("");
}

/** Without those that an update of the nodes changes: the fingerprint still shows changes by others before the update. */
function constantTags(tags: readonly string[]): readonly string[] {
  return tags.filter((tag) => !isNodesTag(tag)).toSorted();
}

function digest(facts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(facts)).digest("base64url");
}
