import type { State } from "@cloudwire/operator-api";
import type { LoadBalancerReadyReason } from "../../api/load-balancer-condition.ts";
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
import { type Evaluation, evaluationOf, type LastReconcile, met, unmet } from "./evaluation.ts";
import { cause, type KnownCause, type Reason, reasonFor, stateOf } from "../reasons/reasons.ts";

export interface ServiceFacts {
  readonly service: Service;
  /** `ProviderSet.ownerOfService(service)`. */
  readonly owner: ServiceOwner;
  /** `providerTroubles` of the owner's snapshot; none: nothing is wrong with it, or it has no owner. */
  readonly troubles: readonly KnownCause[];
  /** `Controller.last("namespace/name")` of service-lb-controller. */
  readonly last: LastReconcile | undefined;
  /** Classes that somebody serves here, to be named where one is not served. */
  readonly classes: readonly string[];
  /** Wall clock. */
  readonly nowMs: number;
}

/** A deletion that takes longer is not in the ordinary course of things any more. */
const STUCK_AFTER_MS = 300_000;

/** What the condition says, in explain's words; undefined: nothing stands in the way. */
const BY_CONDITION: Readonly<Record<LoadBalancerReadyReason, Reason | undefined>> = {
  Ready: undefined,
  NoAvailableNodes: "NoAvailableNodes",
  Provisioning: undefined,
  Updating: undefined,
  Deleting: undefined,
  DeletionProtected: "DeletionProtected",
  DriftNotRepaired: "DriftNotRepaired",
  LoadBalancerFailed: "LoadBalancerFailed",
  Rejected: "Rejected",
  QuotaExceeded: "QuotaExceeded",
  Conflict: "Conflict",
  ProviderNotAuthorized: "PermissionDenied",
  Throttled: "Throttled",
  CloudBusy: "CloudBusy",
  DependencyInUse: "DependencyInUse",
  ProviderUnavailable: "ProviderUnavailable",
  NoLoadBalancerProvider: "NoLoadBalancerProvider",
  OutcomeUnknown: "OutcomeUnknown",
  SyncFailed: "SyncFailed",
};

/**
 * How one Service stands. Needs the Service, whose it is, what is wrong with that provider, and the last reconcile of its key where there
 * is one (a replica that does not lead has none, and goes by the Service's condition). Some microseconds.
 */
export function evaluateService(facts: ServiceFacts): Evaluation {
  const { service } = facts;
  if (!wantsLoadBalancer(service) && !hasFinalizer(service)) return unmanaged("The Service wants no load balancer.");
  return needsCleanup(service) || isDeleting(service) ? evaluateDeletion(facts) : evaluateDesired(facts);
}

function unmanaged(summary: string): Evaluation {
  return { state: "unmanaged", summary, causes: [], desired: [] };
}

function evaluateDesired(facts: ServiceFacts): Evaluation {
  const { service } = facts;
  const causes = causesOfWanted(facts);
  const told = reportedReadiness(service);
  const isReady = told?.status === "True" && causes.length === 0;
  const what = `load balancer with ports ${service.spec.ports.map(({ port, protocol }) => `${port}/${protocol}`).join(", ")}`;
  const addresses = service.status.loadBalancer.ingress
    .map(({ ip, hostname }) => (ip === "" ? hostname : ip))
    .join(", ");
  const detail = addresses === "" ? "no address yet" : `${addresses} serves an earlier wish, or is being changed`;
  const otherwise = isReady
    ? {
        state: "ok" as const,
        summary: `The load balancer is as the Service wishes${addresses === "" ? "" : `: ${addresses}`}.`,
      }
    : { state: "progressing" as const, summary: told?.message ?? "The load balancer is being made." };
  return evaluationOf(causes, otherwise, [isReady ? met(what) : unmet(what, causes, detail)]);
}

function causesOfWanted(facts: ServiceFacts): readonly KnownCause[] {
  const { service, owner, last } = facts;
  const nobody = ownerCause(facts);
  if (nobody !== undefined) return [nobody];
  const told = reportedReadiness(service);
  const gaps = gapCauses(owner, service);
  const said = lastCause(last) ?? conditionCause(told, last);
  const failure = unlessEcho(said, facts.troubles);
  // The fields that are not offered say more than that the whole was refused; a provider that is away more than that nothing was heard.
  const specific = failure !== undefined && isVague(failure.reason) ? [...gaps, ...facts.troubles, failure] : undefined;
  const asWished = told?.reason === "Ready" && said === undefined;
  return asWished ? [] : (specific ?? [...(failure === undefined ? gaps : [failure]), ...facts.troubles]);
}

const VAGUE: ReadonlySet<Reason> = new Set([
  "Rejected",
  "FeatureUnsupported",
  "ProviderUnavailable",
  "OutcomeUnknown",
  "SyncFailed",
  "PermissionDenied",
]);

function isVague(reason: Reason): boolean {
  return VAGUE.has(reason);
}

/** Why nobody makes it a load balancer. */
function ownerCause({ service, owner, classes }: ServiceFacts): KnownCause | undefined {
  if (owner.kind === "owned") return undefined;
  if (owner.kind === "undecided") {
    const { error } = owner;
    const isContested = isProviderError(error, "ALREADY_EXISTS");
    return cause(isContested ? "LoadBalancerClassConflict" : "OwnerUnknown", error.message);
  }
  const isMade = hasFinalizer(service) && reportedReadiness(service) !== undefined;
  const served = classes.length === 0 ? "" : `; served are ${classes.join(", ")}`;
  if (service.spec.loadBalancerClass === undefined || isMade)
    return cause("NoLoadBalancerProvider", `${owner.why}${served}`);
  return cause("LoadBalancerClassNotServed", `${owner.why}${served}`);
}

/** Capability gaps, by the handshake. What is merely left out stands in nobody's way. */
function gapCauses(owner: ServiceOwner, service: Service): readonly KnownCause[] {
  if (owner.kind !== "owned") return [];
  const { loadBalancers } = owner.info.capabilities;
  if (loadBalancers === undefined) return [];
  const refused = unsupportedRequests(service, loadBalancers).filter(({ effect }) => effect === "refused");
  if (refused.length === 0) return [];
  const fields = refused.map(({ field, message }) => `${field}: ${message}`).join("; ");
  return [cause("FeatureUnsupported", `Provider ${owner.provider.name} does not offer it: ${fields}`)];
}

function lastCause(last: LastReconcile | undefined): KnownCause | undefined {
  const why = last?.why;
  if (why?.reason === "busy") return cause("CloudBusy", why.message);
  const reason = reasonFor(BY_CONDITION, why?.reason);
  return why === undefined || reason === undefined ? evaluateFailure(last) : cause(reason, why.message);
}

/** What the Service says itself, unless a reconcile has since gone well. */
function conditionCause(told: Condition | undefined, last: LastReconcile | undefined): KnownCause | undefined {
  if (told === undefined) return undefined;
  const reason = reasonFor(BY_CONDITION, told.reason);
  const isPassed = last !== undefined && PASSING.has(told.reason);
  return reason === undefined || isPassed ? undefined : cause(reason, told.message);
}

/** What a reconcile that went well has ended, though the condition may still be on its way. */
const PASSING: ReadonlySet<string> = new Set([
  "Throttled",
  "CloudBusy",
  "DependencyInUse",
  "ProviderUnavailable",
  "OutcomeUnknown",
  "SyncFailed",
]);

function evaluateDeletion(facts: ServiceFacts): Evaluation {
  const { service, nowMs } = facts;
  const { deletionTimestampMs } = service.metadata;
  if (!hasFinalizer(service)) return evaluateWithoutFinalizer(facts);
  const forMs = deletionTimestampMs === undefined ? 0 : nowMs - deletionTimestampMs;
  const causes = deletionCauses(facts);
  const [first] = causes;
  const isOurs = first === undefined || stateOf(first) !== "unmanaged";
  const isStuck = isOurs && forMs > STUCK_AFTER_MS;
  const stuck = isStuck ? [cause("DeletionStuck", `The load balancer has been going for ${duration(forMs)}`)] : [];
  const summary = "The load balancer is being taken down.";
  const all = [...causes, ...stuck];
  const state: State = "progressing";
  return evaluationOf(all, { state, summary }, [unmet("load balancer taken down, and the Service let go", all)]);
}

/** Ours is not on it: the load balancer is gone, or there never was one. */
function evaluateWithoutFinalizer({ service, owner }: ServiceFacts): Evaluation {
  if (owner.kind === "unowned")
    return unmanaged("The Service is being deleted; no load balancer of it is this program's.");
  const names = service.metadata.finalizers.join(", ");
  const message = `The Service is being deleted; nothing of its load balancer is left, and it waits for finalizers of other programs: ${names}`;
  const causes = names === "" ? [] : [cause("WaitingForFinalizers", message)];
  return evaluationOf(causes, { state: "progressing", summary: "The Service is being deleted." });
}

function deletionCauses(facts: ServiceFacts): readonly KnownCause[] {
  const { service, last, troubles, owner } = facts;
  if (isDeletionProtected(service)) return [cause("DeletionProtected")];
  const failure = unlessEcho(lastCause(last) ?? conditionCause(reportedReadiness(service), last), troubles);
  // Whoever made it takes it down, whoever is to serve the Service now: work that goes on is somebody's.
  const isIdle = failure === undefined && (last === undefined || last.outcome === "success");
  const nobody = isIdle && owner.kind === "unowned" ? ownerCause(facts) : undefined;
  const causes = [nobody, failure].filter((one) => one !== undefined);
  const [first] = causes;
  return first !== undefined && isVague(first.reason) ? [...troubles, ...causes] : [...causes, ...troubles];
}

/** `12 min`, `3 h`, `2 d`. */
function duration(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`;
}
