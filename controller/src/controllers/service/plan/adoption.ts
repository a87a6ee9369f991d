import { ADOPT_LOAD_BALANCER } from "../../../api/annotations.ts";
import type { UnsupportedRequest } from "./unsupported.ts";
import type { DesiredLoadBalancer } from "./types.ts";

export interface AdoptionInput {
  /** The load balancer to adopt. */
  readonly loadBalancerId: string;
  /** The load balancer of the Service. undefined: none is known. */
  readonly existingId: string | undefined;
  /** --allow-load-balancer-adoption. */
  readonly isAllowed: boolean;
  /** The provider supports adoption, and lists the load balancers of this cluster, which must not be adopted while in use. */
  readonly isOffered: boolean;
  /** Of the Service. The names of Services of other namespaces are not shown in it. */
  readonly namespace: string;
  /** Keys of other Services that have it or request it. */
  readonly others: readonly string[];
}

/** At most one of the two is set. */
export interface Adoption {
  readonly desired: Pick<DesiredLoadBalancer, "adoptLoadBalancerId">;
  readonly problems: readonly UnsupportedRequest[];
}

export const NO_ADOPTION: Adoption = { desired: {}, problems: [] };

/**
 * A Service without a load balancer gets the one that it requests, or none: a new one would have an unexpected address. A Service that has
 * another load balancer keeps it.
 */
export function adoption(input: AdoptionInput): Adoption {
  const { loadBalancerId, existingId, isAllowed, isOffered, others } = input;
  if (existingId === loadBalancerId) return NO_ADOPTION;
  if (existingId !== undefined)
    return problem(
      "ignored",
      `the Service has load balancer ${existingId}; to adopt another one, recreate the Service`,
    );
  if (!isAllowed) return problem("refused", "adoption is disabled; enable it with --allow-load-balancer-adoption");
  if (!isOffered) return problem("refused", "the provider does not support adoption");
  if (others.length > 0)
    return problem("refused", `load balancer ${loadBalancerId} is used or requested by ${othersText(input)}`);
  return { desired: { adoptLoadBalancerId: loadBalancerId }, problems: [] };
}

function othersText({ others, namespace }: AdoptionInput): string {
  const shown = others.filter((key) => key.startsWith(`${namespace}/`)).map((key) => `Service ${key}`);
  return [...shown, ...(shown.length < others.length ? ["a Service of another namespace"] : [])].join(", ");
}

function problem(effect: UnsupportedRequest["effect"], message: string): Adoption {
  const field = `metadata.annotations[${ADOPT_LOAD_BALANCER}]`;
  return { desired: {}, problems: [{ feature: "Adopt", field, message, effect }] };
}
