import type { LoadBalancerIngress, Service } from "../../api/service.ts";
import type { UnsupportedRequest } from "../../provider/convert/unsupported.ts";
import type { LoadBalancer, LoadBalancerAnswer } from "../../provider/load-balancer.ts";
import type { JsonObject } from "../../kube/client.ts";
import type { Deletion, Entry, Pending } from "./ledger.ts";
import { addFinalizerPatch, cleanedUpPatch } from "./plan/patches.ts";
import { lastAccepted, type Refusal } from "./plan/refusal.ts";
import type { Wish } from "./plan/wish.ts";
import { hasFinalizer, needsUpdate } from "./predicates.ts";

/** What a decision about one Service rests on. */
export type Input = CleanupInput | WantedInput;

/** The Service has no use for a load balancer, any more or at all. */
export interface CleanupInput {
  readonly kind: "cleanup";
  /** The last one known, if the object itself is gone. */
  readonly service: Service;
  readonly isGone: boolean;
  readonly provider: string;
  readonly entry: Entry | undefined;
  readonly deletion: Deletion | undefined;
}

/** The Service wishes for a load balancer of a provider here. */
export interface WantedInput {
  readonly kind: "wanted";
  readonly service: Service;
  readonly provider: string;
  readonly wish: Wish;
  readonly entry: Entry | undefined;
  /** This process has asked for a change and got no answer that it could use: asking again says more than reading. */
  readonly isAttempted: boolean;
  /** What the cloud has, where that was read: see {@link isReadNeeded}. */
  readonly observed: LoadBalancerAnswer | undefined;
  readonly unsupported: readonly UnsupportedRequest[];
  /** Why the wish must not or need not be asked for. */
  readonly refusal: Refusal | undefined;
  /** The provider takes changes of nodes alone. */
  readonly updatesNodes: boolean;
}

export type Plan = Delete | Refuse | Change | Settle | Wait | Fail;

export interface Delete {
  readonly kind: "delete";
  readonly service: Service;
  readonly isGone: boolean;
  readonly provider: string;
  readonly loadBalancerId: string | undefined;
  readonly operationId: string | undefined;
  /** False while a deletion that was announced goes on. */
  readonly announce: boolean;
  /** For services/status, once nothing is left at the cloud. */
  readonly patch: JsonObject | undefined;
}

/** Asked for what the provider does not offer and what must not be left out, or for what it has refused. */
export interface Refuse {
  readonly kind: "refuse";
  readonly refusal: Refusal;
  /** For the load balancer that stands: ordinary changes of nodes must not leave it without live targets. */
  readonly meanwhile: Plan | undefined;
}

export interface Change {
  readonly kind: "change";
  readonly service: Service;
  readonly provider: string;
  readonly wish: Wish;
  /** What the user is told about it: the load balancer, or only its nodes. */
  readonly purpose: Pending["kind"];
  readonly call: "ensure" | "updateNodes";
  /** For audit logs. */
  readonly trigger: string;
  readonly loadBalancerId: string | undefined;
  readonly operationId: string | undefined;
  /** For services/status, before the call. */
  readonly finalizerPatch: JsonObject | undefined;
  readonly ignored: readonly UnsupportedRequest[];
  /** What stands, whatever comes of the change. */
  readonly standing: Entry | undefined;
}

/** The cloud has what is wished: write down what is known of it. */
export interface Settle {
  readonly kind: "settle";
  readonly service: Service;
  readonly entry: Entry;
  /** The change that has just been finished. */
  readonly finished: Pending["kind"] | undefined;
  readonly nodeCount: number;
  readonly finalizerPatch: JsonObject | undefined;
}

export interface Wait {
  readonly kind: "wait";
  readonly service: Service;
  readonly entry: Entry;
}

/** The provider says that it will not become what is wished. */
export interface Fail {
  readonly kind: "fail";
  readonly message: string;
}

/** What to do about one Service. */
export function plan(input: Input): Plan {
  return input.kind === "cleanup" ? planCleanup(input) : planWanted(input);
}

/**
 * What the cloud has decides, and must be read: this process does not know the load balancer although one was asked for, or a change
 * was accepted and the wish is still the same.
 */
export function isReadNeeded(
  input: Pick<WantedInput, "service" | "wish" | "entry" | "isAttempted" | "refusal">,
): boolean {
  const { service, entry, isAttempted, refusal } = input;
  if (entry === undefined) return hasFinalizer(service) && (!isAttempted || refusal !== undefined);
  const asked = refusal === undefined ? input : lastAccepted(input, entry);
  return entry.pending !== undefined && !isWishNew(asked, entry) && !areNodesNew(asked, entry);
}

/** What the answer to a change, or a later read of it, means. */
export type Progress =
  | { readonly kind: "done"; readonly entry: Entry }
  | { readonly kind: "pending"; readonly entry: Entry }
  | { readonly kind: "failed"; readonly message: string };

/** Polled so often when a provider says that a load balancer is not ready and not when to ask again. */
const DEFAULT_POLL_MS = 5000;

/** How far a change is, by the load balancer that its answer shows. */
export function progressOf(
  change: Pick<Change, "service" | "provider" | "wish" | "purpose">,
  loadBalancer: LoadBalancer,
): Progress {
  const { service, provider, wish, purpose } = change;
  if (loadBalancer.phase === "failed") return { kind: "failed", message: failureOf(loadBalancer) };
  const entry: Entry = {
    service,
    provider,
    loadBalancerId: loadBalancer.id,
    spec: wish.spec,
    specFingerprint: wish.specFingerprint,
    nodesFingerprint: wish.nodes.fingerprint,
    ingress: servedIngress(loadBalancer),
    pending: undefined,
  };
  if (!isUnfinished(loadBalancer)) return { kind: "done", entry };
  const { id: operationId = "", pollAfterMs = DEFAULT_POLL_MS } = loadBalancer.operation ?? {};
  return { kind: "pending", entry: { ...entry, pending: { kind: purpose, operationId, pollAfterMs } } };
}

function planCleanup({ service, isGone, provider, entry, deletion }: CleanupInput): Delete {
  return {
    kind: "delete",
    service,
    isGone,
    provider,
    loadBalancerId: entry?.loadBalancerId,
    operationId: deletion?.operationId,
    announce: deletion === undefined,
    patch: isGone ? undefined : cleanedUpPatch(service),
  };
}

function planWanted(input: WantedInput): Plan {
  const { refusal } = input;
  if (refusal !== undefined) return { kind: "refuse", refusal, meanwhile: planMeanwhile(input) };
  const entry = input.entry ?? entryFromCloud(input);
  return entry === undefined
    ? change(input, "ensure", hasFinalizer(input.service) ? "not known to be as wished" : "service created")
    : planKnown(input, entry);
}

/** What the load balancer needs that an earlier wish, the last one accepted, was made into. */
function planMeanwhile(input: WantedInput): Plan | undefined {
  const entry = input.entry ?? standingInCloud(input);
  if (entry === undefined) return undefined;
  const asked = { ...input, ...lastAccepted(input, entry), unsupported: [] };
  const needsSpec = asked.wish.spec === undefined && !input.updatesNodes;
  return needsSpec ? settle(asked, entry, undefined) : planKnown(asked, entry);
}

function planKnown(input: WantedInput, entry: Entry): Plan {
  const known = { ...input, entry };
  if (isWishNew(input, entry)) return change(known, "ensure", "service changed");
  if (areNodesNew(input, entry)) return change(known, entry.pending?.kind ?? "update", "nodes changed");
  return entry.pending === undefined ? settle(input, entry, undefined) : planPoll(input, entry, entry.pending);
}

function planPoll(input: WantedInput, entry: Entry, pending: Pending): Plan {
  const { service, observed } = input;
  if (observed === undefined) return { kind: "wait", service, entry };
  if (observed.kind === "absent") return change(input, "ensure", "load balancer vanished while it was being made");
  const { loadBalancer } = observed;
  const progress = progressOf({ ...input, purpose: pending.kind }, loadBalancer);
  switch (progress.kind) {
    case "failed":
      return { kind: "fail", message: progress.message };
    case "pending":
      return { kind: "wait", service, entry: progress.entry };
    case "done": {
      const isAsWished = isInForce(loadBalancer, input.wish);
      return isAsWished
        ? settle(input, progress.entry, pending.kind)
        : change(input, "ensure", "another wish is in force");
    }
    default:
      return progress satisfies never;
  }
}

function change(input: WantedInput, purpose: Pending["kind"], trigger: string): Change {
  const { service, provider, wish, entry, updatesNodes, unsupported } = input;
  return {
    kind: "change",
    service,
    provider,
    wish,
    purpose,
    call: purpose === "update" && updatesNodes ? "updateNodes" : "ensure",
    trigger,
    loadBalancerId: entry?.loadBalancerId,
    operationId: entry?.pending?.operationId,
    finalizerPatch: addFinalizerPatch(service),
    ignored: purpose === "ensure" ? unsupported : [],
    standing: entry ?? standingInCloud(input),
  };
}

function settle({ service, wish }: WantedInput, entry: Entry, finished: Settle["finished"]): Settle {
  const finalizerPatch = addFinalizerPatch(service);
  return {
    kind: "settle",
    service,
    entry: { ...entry, service },
    finished,
    nodeCount: wish.nodes.count,
    finalizerPatch,
  };
}

/** After a restart: what is in force tells what was acknowledged. Anything unfinished or unlike the wish is ensured anew. */
function entryFromCloud(input: WantedInput): Entry | undefined {
  const standing = standingInCloud(input);
  return standing?.specFingerprint === input.wish.specFingerprint ? standing : undefined;
}

/** What is in force and finished, by whatever wish. */
function standingInCloud({ service, provider, wish, observed }: WantedInput): Entry | undefined {
  if (observed?.kind !== "present") return undefined;
  const { loadBalancer } = observed;
  if (loadBalancer.phase !== "active" || loadBalancer.operation !== undefined) return undefined;
  return {
    service,
    provider,
    loadBalancerId: loadBalancer.id,
    spec: loadBalancer.specFingerprint === wish.specFingerprint ? wish.spec : undefined,
    specFingerprint: loadBalancer.specFingerprint,
    nodesFingerprint: loadBalancer.nodesFingerprint,
    ingress: loadBalancer.ingress,
    pending: undefined,
  };
}

function isWishNew({ service, wish }: Pick<WantedInput, "service" | "wish">, entry: Entry): boolean {
  return wish.specFingerprint !== entry.specFingerprint || needsUpdate(entry.service, service);
}

function areNodesNew({ wish }: Pick<WantedInput, "wish">, entry: Entry): boolean {
  return wish.nodes.fingerprint !== entry.nodesFingerprint;
}

/** A provider that does not keep fingerprints can only be believed, or it would be asked for ever. */
function isInForce({ specFingerprint, nodesFingerprint }: LoadBalancer, wish: Wish): boolean {
  return (
    (specFingerprint === "" || specFingerprint === wish.specFingerprint) &&
    (nodesFingerprint === "" || nodesFingerprint === wish.nodes.fingerprint)
  );
}

function isUnfinished({ phase, operation }: LoadBalancer): boolean {
  return operation !== undefined || (phase !== "active" && phase !== "failed");
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
