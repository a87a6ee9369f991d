import { loadBalancerToAdopt } from "../../../api/service.ts";
import type { LoadBalancer } from "../../../provider/model/load-balancer.ts";
import type { Entry } from "../ledger.ts";
import { hasFinalizer, needsUpdate } from "../predicates.ts";
import type { WantedInput } from "./input.ts";
import { lastAccepted } from "./refusal.ts";
import type { Wish } from "./wish.ts";

/**
 * What the cloud has decides, and must be read: this process does not know the load balancer although one was asked for; or the wish is
 * still the same, and a change of it was accepted, or a sweep found something amiss.
 */
export function isReadNeeded(
  input: Pick<WantedInput, "service" | "wish" | "entry" | "isAttempted" | "refusal" | "suspicion">,
): boolean {
  const { service, entry, isAttempted, refusal } = input;
  // Which one it has decides whether the one it asks for is to be taken over.
  const isSaid = isAttempted && refusal === undefined && loadBalancerToAdopt(service) === undefined;
  if (entry === undefined) return hasFinalizer(service) && !isSaid;
  const asked = refusal === undefined ? input : lastAccepted(input, entry);
  if (isWishNew(asked, entry) || areNodesNew(asked, entry)) return false;
  return entry.pending !== undefined || input.suspicion !== undefined;
}

/** After a restart: what is in force tells what was acknowledged. Anything unfinished or unlike the wish is ensured anew. */
export function entryFromCloud(input: WantedInput): Entry | undefined {
  const standing = standingInCloud(input);
  return standing?.specFingerprint === input.wish.specFingerprint ? standing : undefined;
}

/** What is in force and finished, by whatever wish. */
export function standingInCloud({ service, provider, wish, observed }: WantedInput): Entry | undefined {
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
    observedFingerprint: loadBalancer.observedFingerprint,
    lockKey: loadBalancer.lockKey,
    ingress: loadBalancer.ingress,
    pending: undefined,
  };
}

/** Another load balancer is wished for than there is. */
export function isWishNew({ service, wish }: Pick<WantedInput, "service" | "wish">, entry: Entry): boolean {
  return wish.specFingerprint !== entry.specFingerprint || needsUpdate(entry.service, service);
}

/** Other nodes are to be served than the load balancer has. */
export function areNodesNew({ wish }: Pick<WantedInput, "wish">, entry: Entry): boolean {
  return wish.nodes.fingerprint !== entry.nodesFingerprint;
}

/** A provider that does not keep fingerprints can only be believed, or it would be asked for ever. */
export function isInForce({ specFingerprint, nodesFingerprint }: LoadBalancer, wish: Wish): boolean {
  return (
    (specFingerprint === "" || specFingerprint === wish.specFingerprint) &&
    (nodesFingerprint === "" || nodesFingerprint === wish.nodes.fingerprint)
  );
}
