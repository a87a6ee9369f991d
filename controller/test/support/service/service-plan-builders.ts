import { UNVERIFIED, type Present } from "../../../src/controllers/service/record/record.ts";
import type { EnsureInput, DesiredLoadBalancer } from "../../../src/controllers/service/plan/types.ts";
import type { LoadBalancer, LoadBalancerResult, Operation } from "../../../src/provider/model/load-balancer.ts";
import { CREATED_MS, ingress, service } from "../builders.ts";

export const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
export const uid = "uid-default-web";
const vip = ingress({ ip: "192.0.2.1", ipMode: "VIP" });
/** Not seen by any process yet. */
export const fresh = service("web");
/** Taken up: it has the finalizer. */
export const held = service("web", { metadata: { finalizers: [FINALIZER] } });
/** Taken up, and changed by its user since. */
export const edited = service("web", { metadata: { finalizers: [FINALIZER], annotations: { touched: "yes" } } });
export const operation: Operation = {
  id: "op-1",
  stage: "",
  progressPercent: undefined,
  pollAfterMs: 3000,
  message: "",
};

export function desired(specFingerprint = "spec-1", nodesFingerprint = "nodes-1", count = 2): DesiredLoadBalancer {
  const spec: NonNullable<DesiredLoadBalancer["spec"]> = {
    ports: [],
    ipFamilies: [],
    sourceRanges: [],
    externalTrafficPolicy: "",
    healthCheck: undefined,
    affinityTimeoutMs: undefined,
    requestedIps: [],
    annotations: {},
    nameHint: "",
    tags: {},
  };
  return {
    spec,
    specFingerprint,
    nodes: { fingerprint: nodesFingerprint, count, source: { kind: "inline", nodes: [] } },
  };
}

export function loadBalancer(parts: Partial<LoadBalancer> = {}): LoadBalancer {
  return {
    id: "lb-1",
    service: { namespace: "default", name: "web", uid },
    phase: "active",
    ingress: [vip],
    specFingerprint: "spec-1",
    nodesFingerprint: "nodes-1",
    observedFingerprint: "",
    registeredNodes: undefined,
    conditions: [],
    operation: undefined,
    tags: {},
    lockKey: "",
    unregisteredNodes: [],
    previousObservedFingerprint: "",
    ...parts,
  };
}

export const present = (parts: Partial<LoadBalancer> = {}): LoadBalancerResult => ({
  kind: "present",
  loadBalancer: loadBalancer(parts),
  diagnostics: [],
});

export const absent: LoadBalancerResult = {
  kind: "absent",
  basis: "lookupMiss",
  observeTimeMs: CREATED_MS,
  strong: true,
  witness: { provider: "acme", scopeId: "s", bootId: "b", receivedAtMs: CREATED_MS },
  diagnostics: [],
};

/** Matches the desired state, without changes in progress. */
export const known: Present = {
  service: held,
  provider: "acme",
  loadBalancerID: "lb-1",
  spec: desired().spec,
  specFingerprint: "spec-1",
  nodesFingerprint: "nodes-1",
  unregistered: undefined,
  baseline: { kind: "verified", fingerprint: "" },
  lockKey: "",
  ingress: [vip],
  operation: undefined,
};
/** As read, which proves nothing. */
export const unverified: Present = { ...known, baseline: UNVERIFIED };
/** Asked for, no address yet. */
export const making: Present = {
  ...unverified,
  ingress: undefined,
  operation: { id: "op-1", purpose: "ensure", pollAfterMs: 3000 },
};
export const updating: Present = { ...unverified, operation: { id: "op-1", purpose: "update", pollAfterMs: 3000 } };

/** A Service that wants a load balancer and of which nothing is known. */
export function wanted(parts: Partial<EnsureInput> = {}): EnsureInput {
  return {
    kind: "ensure",
    service: held,
    provider: "acme",
    desired: desired(),
    present: undefined,
    isUnanswered: false,
    observed: undefined,
    check: undefined,
    nowMs: 0,
    suspicion: undefined,
    previous: undefined,
    unsupported: [],
    refusal: undefined,
    updatesNodes: true,
    ...parts,
  };
}
