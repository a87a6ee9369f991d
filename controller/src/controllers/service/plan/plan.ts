import { type LoadBalancerIngress, type Service, loadBalancerToAdopt } from "../../../api/service.ts";
import type { LoadBalancer, LoadBalancerCheck } from "../../../provider/model/load-balancer.ts";
import { hasFinalizer, isDeleting, isDeletionProtected, needsUpdate } from "../predicates.ts";
import { type Drift, type Operation, type Present, UNVERIFIED } from "../record/record.ts";
import { verified } from "./baseline.ts";
import { type DriftDecision, driftOf, driftOfCheck } from "./drift.ts";
import { isWaiting, unregisteredAtEnd } from "./unregistered.ts";
import { addFinalizerPatch, cleanedUpPatch, ingressPatch } from "./status.ts";
import type { Change, CleanupInput, Input, Plan, Settle, EnsureInput, DesiredLoadBalancer } from "./types.ts";

/** Trigger of a change whose outcome or state is not known. */
const NOT_KNOWN = "not known to match the spec";

/** Trigger of a change by which the provider compares the cloud objects with the spec. */
const NOT_VERIFIED = "not compared with the spec since the start or a change";

export function plan(input: Input): Plan {
  switch (input.kind) {
    case "cleanup":
      return planCleanup(input);
    case "ensure":
      return planEnsure(input);
    case "unserved":
      return { kind: "leave", service: input.service, why: input.why };
    case "absent":
      return { kind: "forget", key: input.key };
    default:
      return input satisfies never;
  }
}

function planCleanup(input: CleanupInput): Plan {
  const { service, isGone, provider, loadBalancerId, deletion, previous, upkeep, unprotected } = input;
  if (isDeletionProtected(service)) {
    return {
      kind: "keep",
      service,
      isGone,
      loadBalancerId,
      // A Service that is being deleted takes no new finalizer.
      finalizerPatch: isGone || isDeleting(service) ? undefined : addFinalizerPatch(service),
      meanwhile: upkeep && planMeanwhile(upkeep),
    };
  }
  if (previous !== undefined) return { kind: "deletePrevious", service, previous };
  return {
    kind: "delete",
    service,
    isGone,
    provider,
    loadBalancerId,
    operationId: deletion?.id,
    detail: deletion?.detail,
    announce: deletion === undefined,
    patch: isGone ? undefined : cleanedUpPatch(service),
    unprotected,
  };
}

function planEnsure(input: EnsureInput): Plan {
  const { service, refusal, previous } = input;
  if (refusal !== undefined) return { kind: "refuse", refusal, meanwhile: planMeanwhile(input) };
  const present = input.present ?? presentFromCloud(input);
  if (present === undefined) {
    return change(input, "ensure", hasFinalizer(service) ? NOT_KNOWN : "service created");
  }
  const known = planKnown(input, present);
  const isStep = known.kind === "settle" || known.kind === "change";
  const step = isStep && input.present === undefined ? { ...known, isFound: true } : known;
  // Make before break: the previous load balancer serves until the new one is published.
  const isSettled = step.kind === "settle" && input.present !== undefined && isIdle(step);
  return isSettled && previous !== undefined && !isDeletionProtected(service)
    ? { kind: "deletePrevious", service, previous }
    : step;
}

/** Nothing is left to write or report. */
function isIdle({ service, present, finished, finalizerPatch, inspection }: Settle): boolean {
  const isPublished = present.ingress === undefined || ingressPatch(service, present.ingress) === undefined;
  return isPublished && finished === undefined && finalizerPatch === undefined && inspection === undefined;
}

/** Keeps the load balancer of the last accepted spec current. */
function planMeanwhile(input: EnsureInput): Plan | undefined {
  const present = input.present ?? inForceInCloud(input);
  if (present === undefined) return undefined;
  const asked = { ...input, ...lastAccepted(input, present), unsupported: [] };
  const needsSpec = asked.desired.spec === undefined && !input.updatesNodes;
  return needsSpec ? settle(asked, present, undefined) : planKnown(asked, present);
}

function planKnown(input: EnsureInput, present: Present): Plan {
  const known = { ...input, present };
  if (isSpecChanged(input, present)) return change(known, "ensure", "service changed");
  if (areNodesChanged(input, present)) return change(known, present.operation?.purpose ?? "update", "nodes changed");
  return present.operation === undefined ? planRead(known, present) : planPoll(input, present, present.operation);
}

/** The desired state is acknowledged. Only drift, and the outcome of a request without response, may need a change. */
function planRead(input: EnsureInput, present: Present): Plan {
  const { suspicion, observed, check, isUnanswered, desired } = input;
  if (check !== undefined) return planCheck(input, present, check);
  const drift = observed && driftOf(present, observed);
  if (suspicion !== undefined && drift !== undefined) return planDrift(input, present, drift, suspicion[drift.kind]);
  if (isUnanswered && (drift !== undefined || inForceInCloud(input) === undefined)) {
    return change(input, desired.spec === undefined ? "update" : "ensure", NOT_KNOWN);
  }
  const inspection = suspicion && observed && ({ kind: "steady" } as const);
  return { ...settle(input, present, undefined), inspection };
}

/** The provider has compared the cloud objects with the desired state. */
function planCheck(input: EnsureInput, present: Present, check: LoadBalancerCheck): Plan {
  const { suspicion } = input;
  switch (check.kind) {
    case "unsupported":
      return change(input, "ensure", NOT_VERIFIED);
    case "missing":
    case "differs": {
      const drift = driftOfCheck(present, check);
      return planDrift(input, present, drift, suspicion?.[drift.kind] ?? "later");
    }
    case "changing":
      return settle(input, present, undefined);
    case "matches": {
      const known = { ...present, baseline: verified(check.loadBalancer) };
      return { ...settle(input, known, undefined), inspection: { kind: "steady" } };
    }
    default:
      return check satisfies never;
  }
}

function planDrift(input: EnsureInput, present: Present, drift: Drift, decision: DriftDecision): Plan {
  if (decision !== "repair" || input.desired.spec === undefined) {
    const inspection = { kind: "left", drift, decision: decision === "repair" ? "later" : decision } as const;
    return { ...settle(input, present, undefined), inspection };
  }
  const repair = change(input, "ensure", `drift: ${drift.kind}`);
  return { ...repair, drift, ...(drift.kind === "missing" ? { acknowledgedNodes: undefined } : {}) };
}

function planPoll(input: EnsureInput, present: Present, operation: Operation): Plan {
  const { service, observed } = input;
  if (observed === undefined) return { kind: "wait", service, present };
  if (observed.kind === "absent") return change(input, "ensure", "load balancer vanished while it was being created");
  const { loadBalancer } = observed;
  const unregistered = unregisteredAtEnd(input.desired, loadBalancer, present.unregistered);
  const known = { baseline: UNVERIFIED, unregistered };
  const progress = progressOf({ ...input, purpose: operation.purpose }, loadBalancer, known);
  switch (progress.kind) {
    case "failed":
      return { kind: "fail", message: progress.message };
    case "pending":
      return { kind: "wait", service, present: progress.present };
    case "done":
      return isInForce(loadBalancer, input.desired)
        ? settle(input, progress.present, operation.purpose)
        : change(input, "ensure", "another spec is in force");
    default:
      return progress satisfies never;
  }
}

function change(input: EnsureInput, purpose: Operation["purpose"], trigger: string): Change {
  const { service, provider, desired, present, updatesNodes, unsupported } = input;
  const inForce = present ?? inForceInCloud(input);
  return {
    kind: "change",
    service,
    provider,
    desired,
    purpose,
    call: purpose === "update" && updatesNodes && !isWhole(input) ? "updateNodes" : "ensure",
    trigger,
    drift: undefined,
    loadBalancerId: present?.loadBalancerID,
    operationId: present?.operation?.id,
    acknowledgedNodes: inForce?.operation === undefined ? inForce?.nodesFingerprint : undefined,
    isRepeated: input.isUnanswered,
    isFound: false,
    finalizerPatch: addFinalizerPatch(service),
    ignored: purpose === "ensure" ? unsupported : [],
    inForce,
  };
}

/** Nodes are missing, and the rest was never compared with the spec: one Ensure does both. */
function isWhole({ desired, present }: EnsureInput): boolean {
  const isUnverified = present?.unregistered !== undefined && present.baseline.kind === "unverified";
  return isUnverified && desired.spec !== undefined;
}

function settle({ service, desired }: EnsureInput, present: Present, finished: Settle["finished"]): Settle {
  const nodeCount = desired.nodes.count;
  const known = { service, present: { ...present, service }, finished, nodeCount, isFound: false };
  return { kind: "settle", ...known, finalizerPatch: addFinalizerPatch(service), inspection: undefined };
}

export type Progress =
  | { readonly kind: "done"; readonly present: Present }
  | { readonly kind: "pending"; readonly present: Present }
  | { readonly kind: "failed"; readonly message: string };

/** For a provider that names no poll interval. */
export const DEFAULT_POLL_MS = 5000;

/** @param known what the response proves, if the change is complete */
export function progressOf(
  change: Pick<Change, "service" | "provider" | "desired" | "purpose">,
  loadBalancer: LoadBalancer,
  { baseline, unregistered }: Pick<Present, "baseline" | "unregistered">,
): Progress {
  const { service, provider, desired, purpose } = change;
  if (loadBalancer.phase === "failed") return { kind: "failed", message: failureOf(loadBalancer) };
  const present: Present = {
    service,
    provider,
    loadBalancerID: loadBalancer.id,
    spec: desired.spec,
    specFingerprint: desired.specFingerprint,
    // Not what the provider echoes.
    nodesFingerprint: unregistered === undefined ? desired.nodes.fingerprint : "",
    unregistered,
    baseline: UNVERIFIED,
    lockKey: loadBalancer.lockKey,
    ingress: servedIngress(loadBalancer),
    operation: undefined,
  };
  if (!isUnfinished(loadBalancer)) return { kind: "done", present: { ...present, baseline } };
  const { id = "", pollAfterMs = DEFAULT_POLL_MS } = loadBalancer.operation ?? {};
  return { kind: "pending", present: { ...present, operation: { id, purpose, pollAfterMs } } };
}

function isUnfinished({ phase, operation }: LoadBalancer): boolean {
  return operation !== undefined || phase !== "active";
}

/** An address is published only while the load balancer serves traffic. */
function servedIngress({ phase, ingress }: LoadBalancer): readonly LoadBalancerIngress[] | undefined {
  return phase === "active" || phase === "updating" ? ingress : undefined;
}

function failureOf({ id, conditions }: LoadBalancer): string {
  const why = conditions
    .filter(({ status }) => status !== "True")
    .map(({ type, reason, message }) => [type, reason, message].filter((part) => part !== "").join(": "));
  return `the provider reports that load balancer ${id} has failed${why.length === 0 ? "" : `: ${why.join("; ")}`}`;
}

/**
 * The cloud must be read: a load balancer was requested, but this process does not know it; or the desired state is unchanged, and a change
 * is in progress or got no response, or a sweep suspects drift.
 */
export function isReadNeeded(
  input: Pick<EnsureInput, "service" | "desired" | "present" | "isUnanswered" | "refusal" | "suspicion" | "nowMs">,
): boolean {
  const { service, present, isUnanswered, refusal } = input;
  // Adoption depends on which load balancer the Service has.
  const isRepeated = isUnanswered && refusal === undefined && loadBalancerToAdopt(service) === undefined;
  if (present === undefined) return hasFinalizer(service) && !isRepeated;
  const asked = refusal === undefined ? input : { ...input, ...lastAccepted(input, present) };
  if (isSpecChanged(asked, present) || areNodesChanged(asked, present)) return false;
  return present.operation !== undefined || isUnanswered || input.suspicion !== undefined;
}

/** Of {@link isReadNeeded}: a sweep suspects drift, and there is no baseline that a read could be compared with. */
export function isCheckNeeded({ present, suspicion }: Pick<EnsureInput, "present" | "suspicion">): boolean {
  // While nodes are missing, an Ensure is repeated anyway.
  if (suspicion === undefined || present === undefined || present.unregistered !== undefined) return false;
  return present.operation === undefined && present.baseline.kind === "unverified";
}

/** After a restart: the load balancer in force counts as acknowledged if it has the desired spec. */
function presentFromCloud(input: EnsureInput): Present | undefined {
  const inForce = inForceInCloud(input);
  return inForce?.specFingerprint === input.desired.specFingerprint ? inForce : undefined;
}

/** The observed load balancer, if no change is in progress, whatever its spec. */
export function inForceInCloud({ service, provider, desired, observed }: EnsureInput): Present | undefined {
  if (observed?.kind !== "present") return undefined;
  const { loadBalancer } = observed;
  if (loadBalancer.phase !== "active" || loadBalancer.operation !== undefined) return undefined;
  return {
    service,
    provider,
    loadBalancerID: loadBalancer.id,
    spec: loadBalancer.specFingerprint === desired.specFingerprint ? desired.spec : undefined,
    specFingerprint: loadBalancer.specFingerprint,
    nodesFingerprint: loadBalancer.nodesFingerprint,
    unregistered: undefined,
    baseline: UNVERIFIED,
    lockKey: loadBalancer.lockKey,
    ingress: loadBalancer.ingress,
    operation: undefined,
  };
}

function isSpecChanged({ service, desired }: Pick<EnsureInput, "service" | "desired">, present: Present): boolean {
  return desired.specFingerprint !== present.specFingerprint || needsUpdate(present.service, service);
}

function areNodesChanged({ desired, nowMs }: Pick<EnsureInput, "desired" | "nowMs">, present: Present): boolean {
  return desired.nodes.fingerprint !== present.nodesFingerprint && !isWaiting(present, desired, nowMs);
}

/** A provider without fingerprints must be trusted, or the requests would never end. */
function isInForce({ specFingerprint, nodesFingerprint }: LoadBalancer, desired: DesiredLoadBalancer): boolean {
  return (
    (specFingerprint === "" || specFingerprint === desired.specFingerprint) &&
    (nodesFingerprint === "" || nodesFingerprint === desired.nodes.fingerprint)
  );
}

/** The Service with the spec that was last accepted, and with the current nodes. */
function lastAccepted(
  { service, desired }: { readonly service: Service; readonly desired: DesiredLoadBalancer },
  present: Present,
): { readonly service: Service; readonly desired: DesiredLoadBalancer } {
  const { spec, metadata } = present.service;
  return {
    service: { ...service, spec, metadata: { ...service.metadata, annotations: metadata.annotations } },
    desired: { spec: present.spec, specFingerprint: present.specFingerprint, nodes: desired.nodes },
  };
}
