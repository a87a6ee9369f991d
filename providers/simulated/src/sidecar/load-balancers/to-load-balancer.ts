import { createHash } from "node:crypto";
import type {
  ChangeContext,
  LoadBalancer as ProviderLoadBalancer,
  LoadBalancerIngress,
  LoadBalancerPhase,
  PendingOptions,
  ServiceRef,
} from "@cloudwire/provider-sdk";
import type { LoadBalancer, Operation } from "../../api/load-balancers.ts";
import { serviceNamespaceTag, serviceNameTag, serviceUidTag } from "../ownership.ts";
import { toIpMode } from "./annotations.ts";
import { metadataKeys } from "./desired-spec.ts";

/** A load balancer in the form of the contract. Fingerprints are set only for the configuration in effect. */
export function toLoadBalancer(loadBalancer: LoadBalancer, operation?: Operation): ProviderLoadBalancer {
  const { id, state, stateReason, metadata, tags, targetCount, targetsDigest } = loadBalancer;
  const isInForce = state === "active";
  const working = workOf(loadBalancer, operation);
  const { [metadataKeys.specFingerprint]: specFingerprint, [metadataKeys.nodesFingerprint]: nodesFingerprint } =
    metadata;
  // The cloud leaves out instances that it does not know.
  const areTargets = [undefined, targetsDigest].includes(metadata[metadataKeys.targetsDigest]);
  return {
    id,
    service: serviceOf(loadBalancer),
    phase: phases[state],
    ingress: [ingressOf(loadBalancer)],
    ...(isInForce && specFingerprint !== undefined ? { specFingerprint } : {}),
    ...((isInForce || state === "updating") && areTargets ? { nodesFingerprint } : {}),
    observedFingerprint: observedFingerprint(loadBalancer),
    registeredNodes: targetCount,
    conditions: [
      isInForce
        ? { type: "Forwarding", status: true, reason: "Listening" }
        : { type: "Forwarding", status: false, reason: reasonOf(state), message: stateReason },
    ],
    ...(working ? { operation: working } : {}),
    tags,
  };
}

/** The Service in the ownership tags. */
export function serviceOf({ tags }: Pick<LoadBalancer, "tags">): ServiceRef {
  return {
    namespace: tags[serviceNamespaceTag] ?? "",
    name: tags[serviceNameTag] ?? "",
    uid: tags[serviceUidTag] ?? "",
  };
}

/** How long to wait before the next question: about as long as the work takes, at least and at most so long. */
export function workOf({ state, operationId }: LoadBalancer, operation?: Operation): PendingOptions | undefined {
  if (state !== "provisioning" && state !== "updating" && state !== "deleting") return undefined;
  const stage = `${state} in the cloud`;
  if (operation?.state !== "running") return { pollAfterMs: minPollMs, stage, operationId };
  const expectedEndTime = new Date(operation.expectedEndAt);
  const leftMs = expectedEndTime.getTime() - Date.now();
  return {
    pollAfterMs: Math.min(maxPollMs, Math.max(minPollMs, leftMs)),
    stage,
    operationId: operation.id,
    progressPercent: operation.progressPercent,
    startTime: new Date(operation.createdAt),
    expectedEndTime,
  };
}

/** Says what is wrong with a load balancer that failed, and where to reach one whose ports are shifted. */
export function diagnose(loadBalancer: LoadBalancer, context: ChangeContext): void {
  const { state, stateReason, listeners, address } = loadBalancer;
  if (state === "failed")
    context.addDiagnostic({ severity: "error", reason: "LoadBalancerFailed", summary: stateReason });
  const shifted = listeners.filter(({ port, boundPort }) => port !== boundPort);
  if (shifted.length === 0) return;
  const places = shifted.map(({ port, boundPort }) => `${port} at ${address}:${boundPort}`);
  const summary = `The simulated cloud listens on other ports: ${places.join(", ")}`;
  context.addDiagnostic({ severity: "info", reason: "PortsShifted", summary });
}

const minPollMs = 500;
const maxPollMs = 10_000;

const phases = {
  provisioning: "PROVISIONING",
  active: "ACTIVE",
  updating: "UPDATING",
  failed: "FAILED",
  deleting: "DELETING",
} as const satisfies Record<LoadBalancer["state"], LoadBalancerPhase>;

function reasonOf(state: LoadBalancer["state"]): string {
  return state.charAt(0).toUpperCase() + state.slice(1);
}

/** By default `Proxy`: the addresses are loopback addresses that a node must not take for its own. */
function ingressOf({ address, listeners, metadata }: LoadBalancer): LoadBalancerIngress {
  const ports = listeners.map(({ port, status, reason }) => ({
    port,
    protocol: "TCP" as const,
    ...(status === "failed" ? { error: reason?.split(":")[0] ?? "ListenerFailed" } : {}),
  }));
  return { ip: address, ipMode: toIpMode(metadata[metadataKeys.ipMode]), ports };
}

/** A fingerprint of all that someone could change without the provider, and of nothing that changes by itself. */
function observedFingerprint(loadBalancer: LoadBalancer): string {
  const { name, class: flavor, address, listeners, sourceRanges, sessionAffinity } = loadBalancer;
  const { idleTimeoutMs, healthCheck = null, protected: isProtected, tags, targetsDigest } = loadBalancer;
  const ports = listeners.map(({ port, targetPort }) => [port, targetPort]);
  const sortedTags = Object.entries(tags).toSorted(([left], [right]) => (left < right ? -1 : 1));
  const facts = [name, flavor, address, ports, sourceRanges, sessionAffinity, idleTimeoutMs, isProtected, sortedTags];
  return createHash("sha256")
    .update(JSON.stringify([...facts, healthCheck, targetsDigest]))
    .digest("base64url");
}
