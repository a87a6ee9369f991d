import { loadBalancerToAdopt } from "../../../api/service.ts";
import type { LoadBalancer } from "../../../provider/model/load-balancer.ts";
import type { Present } from "../record/record.ts";
import { hasFinalizer, needsUpdate } from "../predicates.ts";
import type { WantedInput } from "./input.ts";
import { lastAccepted } from "./refusal.ts";
import type { Wish } from "./wish.ts";

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
