import { type LoadBalancerIngress, type Service, loadBalancerToAdopt } from "../../../api/service.ts";
import type { LoadBalancer } from "../../../provider/model/load-balancer.ts";
import { hasFinalizer, isDeleting, isDeletionProtected, needsUpdate } from "../predicates.ts";
import type { Drift, Operation, Present } from "../record/record.ts";
import { type DriftDecision, driftOf } from "./drift.ts";
import { addFinalizerPatch, cleanedUpPatch, ingressPatch } from "./status.ts";
import type { Change, CleanupInput, Input, Plan, Settle, EnsureInput, DesiredLoadBalancer } from "./types.ts";

/** Trigger of a change whose reason is that nothing is known. */
const NOT_KNOWN = "not known to be as wished";

/** What to do about one Service. */
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
  const step = planKnown(input, present);
  // Make before break: the previous one serves until the new one is recorded and published.
  const isSettled = step.kind === "settle" && input.present !== undefined && isIdle(step);
  return isSettled && previous !== undefined && !isDeletionProtected(service)
    ? { kind: "deletePrevious", service, previous }
    : step;
}

/** Nothing is left to be written or told. */
function isIdle({ service, present, finished, finalizerPatch, inspection }: Settle): boolean {
  const isPublished = present.ingress === undefined || ingressPatch(service, present.ingress) === undefined;
  return isPublished && finished === undefined && finalizerPatch === undefined && inspection === undefined;
}

/** What the load balancer needs that an earlier wish, the last one accepted, was made into. */
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

/**
 * Nothing is desired that was not acknowledged. What somebody else did at the cloud counts if a sweep gave reason to read it; and so does what
 * became of a request without answer.
 */
function planRead(input: EnsureInput, present: Present): Plan {
  const { suspicion, observed, isUnanswered, desired } = input;
  const drift = observed && driftOf(present, observed);
  if (suspicion !== undefined && drift !== undefined) return planDrift(input, present, drift, suspicion[drift.kind]);
  if (isUnanswered && (drift !== undefined || inForceInCloud(input) === undefined)) {
    return change(input, desired.spec === undefined ? "update" : "ensure", NOT_KNOWN);
  }
  const inspection = suspicion && observed && ({ kind: "steady" } as const);
  return { ...settle(input, present, undefined), inspection };
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
  if (observed.kind === "absent") return change(input, "ensure", "load balancer vanished while it was being made");
  const { loadBalancer } = observed;
  const progress = progressOf({ ...input, purpose: operation.purpose }, loadBalancer);
  switch (progress.kind) {
    case "failed":
      return { kind: "fail", message: progress.message };
    case "pending":
      return { kind: "wait", service, present: progress.present };
    case "done": {
      const isUpToDate = isInForce(loadBalancer, input.desired);
      return isUpToDate
        ? settle(input, progress.present, operation.purpose)
        : change(input, "ensure", "another wish is in force");
    }
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
    call: purpose === "update" && updatesNodes ? "updateNodes" : "ensure",
    trigger,
    drift: undefined,
    loadBalancerId: present?.loadBalancerID,
    operationId: present?.operation?.id,
    acknowledgedNodes: inForce?.operation === undefined ? inForce?.nodesFingerprint : undefined,
    finalizerPatch: addFinalizerPatch(service),
    ignored: purpose === "ensure" ? unsupported : [],
    inForce,
  };
}

function settle({ service, desired }: EnsureInput, present: Present, finished: Settle["finished"]): Settle {
  const finalizerPatch = addFinalizerPatch(service);
  return {
    kind: "settle",
    service,
    present: { ...present, service },
    finished,
    nodeCount: desired.nodes.count,
    finalizerPatch,
    inspection: undefined,
  };
}

/** What the answer to a change, or a later read of it, means. */
export type Progress =
  | { readonly kind: "done"; readonly present: Present }
  | { readonly kind: "pending"; readonly present: Present }
  | { readonly kind: "failed"; readonly message: string };

/** Polled so often when a provider says that a load balancer is not ready and not when to ask again. */
const DEFAULT_POLL_MS = 5000;

/** How far a change is, by the load balancer that its answer shows. */
export function progressOf(
  change: Pick<Change, "service" | "provider" | "desired" | "purpose">,
  loadBalancer: LoadBalancer,
): Progress {
  const { service, provider, desired, purpose } = change;
  if (loadBalancer.phase === "failed") return { kind: "failed", message: failureOf(loadBalancer) };
  const present: Present = {
    service,
    provider,
    loadBalancerID: loadBalancer.id,
    spec: desired.spec,
    specFingerprint: desired.specFingerprint,
    nodesFingerprint: desired.nodes.fingerprint,
    observedFingerprint: loadBalancer.observedFingerprint,
    lockKey: loadBalancer.lockKey,
    ingress: servedIngress(loadBalancer),
    operation: undefined,
  };
  if (!isUnfinished(loadBalancer)) return { kind: "done", present };
  const { id = "", pollAfterMs = DEFAULT_POLL_MS } = loadBalancer.operation ?? {};
  return { kind: "pending", present: { ...present, operation: { id, purpose, pollAfterMs } } };
}

function isUnfinished({ phase, operation }: LoadBalancer): boolean {
  return operation !== undefined || phase !== "active";
}

/** An address is published only while something answers there. */
function servedIngress({ phase, ingress }: LoadBalancer): readonly LoadBalancerIngress[] | undefined {
  return phase === "active" || phase === "updating" ? ingress : undefined;
}

function failureOf({ id, conditions }: LoadBalancer): string {
  const why = conditions
    .filter(({ status }) => status !== "True")
    .map(({ type, reason, message }) => [type, reason, message].filter((part) => part !== "").join(": "));
  return `the provider says that load balancer ${id} has failed${why.length === 0 ? "" : `: ${why.join("; ")}`}`;
}

/**
 * What the cloud has decides, and must be read: this process does not know the load balancer although one was asked for; or the wish is
 * still the same, and a change was accepted or got no answer, or a sweep found something amiss.
 */
export function isReadNeeded(
  input: Pick<EnsureInput, "service" | "desired" | "present" | "isUnanswered" | "refusal" | "suspicion">,
): boolean {
  const { service, present, isUnanswered, refusal } = input;
  // Which one it has decides whether the one it asks for is to be taken over.
  const isSaid = isUnanswered && refusal === undefined && loadBalancerToAdopt(service) === undefined;
  if (present === undefined) return hasFinalizer(service) && !isSaid;
  const asked = refusal === undefined ? input : lastAccepted(input, present);
  if (isSpecChanged(asked, present) || areNodesChanged(asked, present)) return false;
  return present.operation !== undefined || isUnanswered || input.suspicion !== undefined;
}

/** After a restart: what is in force tells what was acknowledged. Anything unfinished or unlike the wish is ensured anew. */
function presentFromCloud(input: EnsureInput): Present | undefined {
  const inForce = inForceInCloud(input);
  return inForce?.specFingerprint === input.desired.specFingerprint ? inForce : undefined;
}

/** What is in force and finished, by whatever wish. */
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
    observedFingerprint: loadBalancer.observedFingerprint,
    lockKey: loadBalancer.lockKey,
    ingress: loadBalancer.ingress,
    operation: undefined,
  };
}

/** Another load balancer is wished for than there is. */
function isSpecChanged({ service, desired }: Pick<EnsureInput, "service" | "desired">, present: Present): boolean {
  return desired.specFingerprint !== present.specFingerprint || needsUpdate(present.service, service);
}

/** Other nodes are to be served than the load balancer has. */
function areNodesChanged({ desired }: Pick<EnsureInput, "desired">, present: Present): boolean {
  return desired.nodes.fingerprint !== present.nodesFingerprint;
}

/** A provider that does not keep fingerprints can only be believed, or it would be asked for ever. */
function isInForce({ specFingerprint, nodesFingerprint }: LoadBalancer, desired: DesiredLoadBalancer): boolean {
  return (
    (specFingerprint === "" || specFingerprint === desired.specFingerprint) &&
    (nodesFingerprint === "" || nodesFingerprint === desired.nodes.fingerprint)
  );
}

/** The Service as it is, but for the wish, which is the one that was last accepted; nodes are those of now. */
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
