import { LOAD_BALANCER_REMEDIES } from "../../api/load-balancer-condition.ts";
import type { Condition } from "../../api/meta.ts";
import type { Service } from "../../api/service.ts";
import { reportedReadiness } from "../../controllers/service/plan/status.ts";
import {
  hasFinalizer,
  isDeleting,
  isDeletionProtected,
  needsCleanup,
  wantsLoadBalancer,
} from "../../controllers/service/predicates.ts";
import { unsupportedRequests } from "../../controllers/service/plan/unsupported.ts";
import { isProviderError } from "../../provider/model/errors.ts";
import type { ServiceOwner } from "../../provider/model/provider.ts";
import { evaluateFailure, unlessEcho } from "./failure.ts";
import {
  type Evaluation,
  type LastReconcile,
  type OwnedFacts,
  evaluationOf,
  met,
  unmet,
  waitingForFinalizers,
} from "./evaluation.ts";
import { cause, isReason, type KnownCause, type Reason, stateOf } from "../reasons/reasons.ts";

export interface ServiceFacts extends OwnedFacts {
  readonly service: Service;
  /** Of service-lb-controller. */
  readonly last: LastReconcile | undefined;
  /** Load-balancer classes with a provider. */
  readonly classes: readonly string[];
  /** Wall clock. */
  readonly nowMs: number;
}

/** Longer deletions are unusual. */
const STUCK_AFTER_MS = 300_000;

/** A standby has no reconciles and evaluates the condition of the Service. */
export function evaluateService(facts: ServiceFacts): Evaluation {
  const { service } = facts;
  if (!wantsLoadBalancer(service) && !hasFinalizer(service))
    return unmanaged("The Service is not of type LoadBalancer.");
  return needsCleanup(service) || isDeleting(service) ? evaluateDeletion(facts) : evaluateDesired(facts);
}

function unmanaged(summary: string): Evaluation {
  return { state: "unmanaged", summary, causes: [], desired: [] };
}

function evaluateDesired(facts: ServiceFacts): Evaluation {
  const { spec, status } = facts.service;
  const causes = causesOf(facts);
  const reported = reportedReadiness(facts.service);
  const description = `load balancer with ports ${spec.ports.map(({ port, protocol }) => `${port}/${protocol}`).join(", ")}`;
  const addresses = status.loadBalancer.ingress.map(({ ip, hostname }) => (ip === "" ? hostname : ip)).join(", ");
  if (reported?.status === "True" && causes.length === 0) {
    const summary = `The load balancer matches the spec${addresses === "" ? "" : `: ${addresses}`}.`;
    return evaluationOf([], { state: "ok", summary }, [met(description)]);
  }
  const message = addresses === "" ? "no address yet" : `${addresses} still serves the previous configuration`;
  const summary = reported?.message ?? "The load balancer is being created.";
  return evaluationOf(causes, { state: "progressing", summary }, [unmet(description, causes, message)]);
}

function causesOf(facts: ServiceFacts): readonly KnownCause[] {
  const { service, owner, last, troubles } = facts;
  const unowned = ownerCause(facts);
  if (unowned !== undefined) return [unowned];
  const reported = reportedReadiness(service);
  const gaps = gapCauses(owner, service);
  const latest = lastCause(last) ?? conditionCause(reported, last);
  if (reported?.reason === "Ready" && latest === undefined) return [];
  const failure = unlessEcho(latest, troubles);
  if (failure === undefined) return [...gaps, ...troubles];
  // Unsupported fields and provider problems are more exact than a general failure.
  return VAGUE.has(failure.reason) ? [...gaps, ...troubles, failure] : [failure, ...troubles];
}

const VAGUE: ReadonlySet<Reason> = new Set([
  "Rejected",
  "FeatureUnsupported",
  "ProviderNotReady",
  "ProviderUnavailable",
  "OutcomeUnknown",
  "SyncFailed",
  "PermissionDenied",
]);

/** Why no provider serves it. */
function ownerCause({ service, owner, classes }: ServiceFacts): KnownCause | undefined {
  if (owner.kind === "owned") return undefined;
  if (owner.kind === "undecided") {
    const { error } = owner;
    const isConflict = isProviderError(error, "ALREADY_EXISTS");
    return cause(isConflict ? "LoadBalancerClassConflict" : "OwnerUnknown", error.message);
  }
  const existed = hasFinalizer(service) && reportedReadiness(service) !== undefined;
  const served = classes.length === 0 ? "" : `; served classes: ${classes.join(", ")}`;
  if (service.spec.loadBalancerClass === undefined || existed)
    return cause("NoLoadBalancerProvider", `${owner.why}${served}`);
  return cause("LoadBalancerClassNotServed", `${owner.why}${served}`);
}

/** Requested features that the provider rejects, by its capabilities. */
function gapCauses(owner: ServiceOwner, service: Service): readonly KnownCause[] {
  if (owner.kind !== "owned") return [];
  const { loadBalancers } = owner.info.capabilities;
  if (loadBalancers === undefined) return [];
  const rejected = unsupportedRequests(service, loadBalancers).filter(({ effect }) => effect === "refused");
  if (rejected.length === 0) return [];
  const fields = rejected.map(({ field, message }) => `${field}: ${message}`).join("; ");
  return [cause("FeatureUnsupported", `Provider ${owner.provider.name} does not support it: ${fields}`)];
}

function lastCause(last: LastReconcile | undefined): KnownCause | undefined {
  const why = last?.why;
  if (why?.reason === "busy") return cause("CloudBusy", why.message);
  const reason = conditionReason(why?.reason);
  return why === undefined || reason === undefined ? evaluateFailure(last) : cause(reason, why.message);
}

/** Ignores a temporary failure if a reconcile has succeeded since. */
function conditionCause(reported: Condition | undefined, last: LastReconcile | undefined): KnownCause | undefined {
  if (reported === undefined || (last !== undefined && TEMPORARY.has(reported.reason))) return undefined;
  const reason = conditionReason(reported.reason);
  return reason && cause(reason, reported.message);
}

/** Conditions and explanations have the same reasons; undefined: no problem, such as `Ready`. */
function conditionReason(reason: string | undefined): Reason | undefined {
  return reason !== undefined && Object.hasOwn(LOAD_BALANCER_REMEDIES, reason) && isReason(reason) ? reason : undefined;
}

const TEMPORARY: ReadonlySet<string> = new Set([
  "Throttled",
  "CloudBusy",
  "CloudUnavailable",
  "DependencyInUse",
  "ProviderHandshakeFailed",
  "ProviderNotReady",
  "ProviderUnavailable",
  "OutcomeUnknown",
  "SyncFailed",
]);

function evaluateDeletion(facts: ServiceFacts): Evaluation {
  const { service, owner, nowMs } = facts;
  const { deletionTimestampMs = nowMs, finalizers } = service.metadata;
  if (!hasFinalizer(service)) {
    return owner.kind === "unowned"
      ? unmanaged("The Service is being deleted and has no load balancer of this controller.")
      : waitingForFinalizers("Service", finalizers);
  }
  const causes = deletionCauses(facts);
  const [first] = causes;
  const isOwned = first === undefined || stateOf(first) !== "unmanaged";
  const forMs = nowMs - deletionTimestampMs;
  const isStuck = isOwned && forMs > STUCK_AFTER_MS;
  const stuck = isStuck
    ? [cause("DeletionStuck", `The deletion of the load balancer takes ${duration(forMs)} so far`)]
    : [];
  const all = [...causes, ...stuck];
  const deleting = { state: "progressing", summary: deletionSummary(facts) } as const;
  return evaluationOf(all, deleting, [unmet("load balancer deleted and finalizer removed", all)]);
}

/** What it waits for, and what is left, if the provider reports that. */
function deletionSummary({ service, last }: ServiceFacts): string {
  const reported = reportedReadiness(service);
  const latest = [last?.why, reported].find((one) => one?.reason === "Deleting");
  return latest?.message ?? "The load balancer is being deleted.";
}

function deletionCauses(facts: ServiceFacts): readonly KnownCause[] {
  const { service, last, troubles, owner } = facts;
  if (isDeletionProtected(service)) return [cause("DeletionProtected")];
  const failure = unlessEcho(lastCause(last) ?? conditionCause(reportedReadiness(service), last), troubles);
  // The provider that created the load balancer deletes it, regardless of the present owner.
  const isIdle = failure === undefined && (last === undefined || last.outcome === "success");
  const unowned = isIdle && owner.kind === "unowned" ? ownerCause(facts) : undefined;
  const causes = [unowned, failure].filter((one) => one !== undefined);
  const [first] = causes;
  return first !== undefined && VAGUE.has(first.reason) ? [...troubles, ...causes] : [...causes, ...troubles];
}

/** `12 min`, `3 h`, `2 d`. */
function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}
