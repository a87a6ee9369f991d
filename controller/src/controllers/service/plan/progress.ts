import { type LoadBalancerIngress, type Service, loadBalancerToAdopt } from "../../../api/service.ts";
import type { LoadBalancer } from "../../../provider/model/load-balancer.ts";
import { hasFinalizer, needsUpdate } from "../predicates.ts";
import type { Present } from "../record/record.ts";
import type { Change, Refusal, WantedInput, Wish } from "./types.ts";
import type { UnsupportedRequest } from "./unsupported.ts";

/** What the answer to a change, or a later read of it, means. */
export type Progress =
  | { readonly kind: "done"; readonly present: Present }
  | { readonly kind: "pending"; readonly present: Present }
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
  const present: Present = {
    service,
    provider,
    loadBalancerID: loadBalancer.id,
    spec: wish.spec,
    specFingerprint: wish.specFingerprint,
    nodesFingerprint: wish.nodes.fingerprint,
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
  input: Pick<WantedInput, "service" | "wish" | "present" | "isUnanswered" | "refusal" | "suspicion">,
): boolean {
  const { service, present, isUnanswered, refusal } = input;
  // Which one it has decides whether the one it asks for is to be taken over.
  const isSaid = isUnanswered && refusal === undefined && loadBalancerToAdopt(service) === undefined;
  if (present === undefined) return hasFinalizer(service) && !isSaid;
  const asked = refusal === undefined ? input : lastAccepted(input, present);
  if (isWishNew(asked, present) || areNodesNew(asked, present)) return false;
  return present.operation !== undefined || isUnanswered || input.suspicion !== undefined;
}

/** After a restart: what is in force tells what was acknowledged. Anything unfinished or unlike the wish is ensured anew. */
export function presentFromCloud(input: WantedInput): Present | undefined {
  const inForce = inForceInCloud(input);
  return inForce?.specFingerprint === input.wish.specFingerprint ? inForce : undefined;
}

/** What is in force and finished, by whatever wish. */
export function inForceInCloud({ service, provider, wish, observed }: WantedInput): Present | undefined {
  if (observed?.kind !== "present") return undefined;
  const { loadBalancer } = observed;
  if (loadBalancer.phase !== "active" || loadBalancer.operation !== undefined) return undefined;
  return {
    service,
    provider,
    loadBalancerID: loadBalancer.id,
    spec: loadBalancer.specFingerprint === wish.specFingerprint ? wish.spec : undefined,
    specFingerprint: loadBalancer.specFingerprint,
    nodesFingerprint: loadBalancer.nodesFingerprint,
    observedFingerprint: loadBalancer.observedFingerprint,
    lockKey: loadBalancer.lockKey,
    ingress: loadBalancer.ingress,
    operation: undefined,
  };
}

/** Another load balancer is wished for than there is. */
export function isWishNew({ service, wish }: Pick<WantedInput, "service" | "wish">, present: Present): boolean {
  return wish.specFingerprint !== present.specFingerprint || needsUpdate(present.service, service);
}

/** Other nodes are to be served than the load balancer has. */
export function areNodesNew({ wish }: Pick<WantedInput, "wish">, present: Present): boolean {
  return wish.nodes.fingerprint !== present.nodesFingerprint;
}

/** A provider that does not keep fingerprints can only be believed, or it would be asked for ever. */
export function isInForce({ specFingerprint, nodesFingerprint }: LoadBalancer, wish: Wish): boolean {
  return (
    (specFingerprint === "" || specFingerprint === wish.specFingerprint) &&
    (nodesFingerprint === "" || nodesFingerprint === wish.nodes.fingerprint)
  );
}

/** When every refusal is tried again. */
export const NEXT_TRY = "tried again when the Service or the provider changes";

/** The provider does not offer what must not be left out. */
export function refusalOf(unsupported: readonly UnsupportedRequest[]): Refusal | undefined {
  const refused = unsupported.filter(({ effect }) => effect === "refused");
  if (refused.length === 0) return undefined;
  const message = refused.map((request) => `${request.field}: ${request.message}`).join("; ");
  return { message, retryAfterMs: undefined, nextTry: NEXT_TRY };
}

/** The Service as it is, but for the wish, which is the one that was last accepted; nodes are those of now. */
export function lastAccepted(
  { service, wish }: { readonly service: Service; readonly wish: Wish },
  present: Present,
): { readonly service: Service; readonly wish: Wish } {
  const { spec, metadata } = present.service;
  return {
    service: { ...service, spec, metadata: { ...service.metadata, annotations: metadata.annotations } },
    wish: { spec: present.spec, specFingerprint: present.specFingerprint, nodes: wish.nodes },
  };
}
