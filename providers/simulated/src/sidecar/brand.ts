import type { LoadBalancerHandlers } from "@cloudwire/provider-sdk";
import { domain } from "./load-balancers/annotations.ts";
import { providerIdPrefix } from "./instances/provider-id.ts";

/** Distinguishes several simulated clouds in the same cluster. */
export interface Brand {
  readonly name: string;
  readonly idPrefix: string;
  /** Its load balancer classes are `<domain>/<flavor>`. */
  readonly domain: string;
}

/** @param brand a word such as west; undefined: the cloud is the only one */
export function brandOf(brand: string | undefined): Brand {
  if (brand === undefined) return { name: domain, idPrefix: providerIdPrefix, domain };
  const own = `${brand}.${domain}`;
  return { name: own, idPrefix: `${brand}://`, domain: own };
}

/** The same load balancers under classes of the brand's own. */
export function withClassesOf(brand: Brand, handlers: LoadBalancerHandlers): LoadBalancerHandlers {
  if (brand.domain === domain) return handlers;
  const { features, ensure } = handlers;
  return {
    ...handlers,
    features: { ...features, classes: features?.classes?.map((name) => name.replace(domain, brand.domain)) },
    ensure: (wanted, context) => ensure({ ...wanted, class: wanted.class?.replace(brand.domain, domain) }, context),
  };
}
