import { ADOPT_LOAD_BALANCER } from "../../../api/annotations.ts";
import type { UnsupportedRequest } from "./unsupported.ts";
import type { DesiredLoadBalancer } from "./types.ts";

/** What decides whether a load balancer that exists becomes a Service's. */
export interface AdoptionInput {
  /** The one asked for. */
  readonly loadBalancerId: string;
  /** The one that the Service has. undefined: none, as far as known. */
  readonly existingId: string | undefined;
  /** --allow-load-balancer-adoption. */
  readonly isAllowed: boolean;
  /** The provider takes load balancers over, and lists those of this cluster: one that is in use here is not to be taken. */
  readonly isOffered: boolean;
  /** Keys of living Services that have it, or ask for it too. */
  readonly others: readonly string[];
}

/** At most one of the two: what is asked for is wished, or why not. */
export interface Adoption {
  readonly desired: Pick<DesiredLoadBalancer, "adoptLoadBalancerId">;
  readonly problems: readonly UnsupportedRequest[];
}

export const NO_ADOPTION: Adoption = { desired: {}, problems: [] };

/**
 * A Service without load balancer gets the one that it asks for or none: never a new one, whose address nobody waits for. One that has
 * another keeps that, for it serves.
 */
export function adoption({ loadBalancerId, existingId, isAllowed, isOffered, others }: AdoptionInput): Adoption {
  if (existingId === loadBalancerId) return NO_ADOPTION;
  if (existingId !== undefined)
    return problem(
      "ignored",
      `the Service has load balancer ${existingId}; to take over another, make the Service anew`,
    );
  if (!isAllowed)
    return problem(
      "refused",
      "taking over load balancers is not allowed here; --allow-load-balancer-adoption allows it",
    );
  if (!isOffered) return problem("refused", "the provider takes over no load balancers");
  if (others.length > 0)
    return problem("refused", `load balancer ${loadBalancerId} is also that of Service ${others.join(", ")}`);
  return { desired: { adoptLoadBalancerId: loadBalancerId }, problems: [] };
}

function problem(effect: UnsupportedRequest["effect"], message: string): Adoption {
  const field = `metadata.annotations[${ADOPT_LOAD_BALANCER}]`;
  return { desired: {}, problems: [{ feature: "Adopt", field, message, effect }] };
}
