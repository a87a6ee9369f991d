import type { ProviderError } from "../results/errors.ts";
import type { CallContext, ChangeContext } from "./call-context.ts";
import type { IpFamily, NodeAddress, NodeAddresses } from "./common.ts";
import type { Pending } from "../results/results.ts";

/** The desired state of a route from a pod CIDR to an instance. */
export interface DesiredRoute {
  /** The provider's ID of it, if known: in deletes, as `list` returned it. */
  readonly id?: string | undefined;
  /** Name for the cloud object, if one must be chosen: different for each pod CIDR of a node. */
  readonly nameHint?: string | undefined;
  /** spec.providerID of the target. */
  readonly targetProviderId: string;
  /** The part of it after the prefix; undefined without one of the provider's prefixes. */
  readonly targetId?: string | undefined;
  /** metadata.name of the target. */
  readonly targetNodeName?: string | undefined;
  /** The pod CIDR: network address, no host bits. */
  readonly destinationCidr: string;
  /** Addresses of the node that the route uses; only with feature `targetAddresses`. */
  readonly targetAddresses: readonly NodeAddress[];
}

/** The observed state of a route. */
export interface Route {
  readonly kind?: "route" | undefined;
  /** The provider's ID of the route. */
  readonly id: string;
  /** Name of the route in the cloud. */
  readonly nameHint?: string | undefined;
  /** The cloud's ID of the target instance, with or without prefix. Undefined: no longer an instance of this cluster. */
  readonly targetId?: string | undefined;
  /** Name of the target's Node, if the cloud stores it. */
  readonly targetNodeName?: string | undefined;
  /** The pod CIDR. */
  readonly destinationCidr: string;
  /** Addresses of the node that the route uses; only with feature `targetAddresses`. */
  readonly targetAddresses?: NodeAddresses | undefined;
  /** True: the target no longer exists and packets are dropped. */
  readonly blackhole?: boolean | undefined;
}

/** Usage of the route table. */
export interface RouteQuota {
  /** Maximum number of routes. */
  readonly limit: number;
  /** Number of routes, including those of other owners. */
  readonly used: number;
}

/** Context of a list of routes. */
export interface RouteListContext extends CallContext {
  /** Reports the usage of the route table. */
  readonly reportQuota: (quota: RouteQuota) => void;
}

/** Context of a change of routes. */
export interface RouteChangeContext extends ChangeContext {
  /** Reports the usage of the route table after the change. */
  readonly reportQuota: (quota: RouteQuota) => void;
}

/** The result for one route of a batch: an error is that of this route alone. */
export type RouteBatchResult = Route | Pending | ProviderError | Error;

/** The result of one delete of a batch: `undefined` means that the route is deleted. */
export type RouteDeleteResult = Pending | ProviderError | Error | undefined;

/** Capabilities for routes. */
export interface RouteFeatures {
  /** Maximum number of routes of one change, 1 to 1000. Default: 200. */
  readonly maxBatchSize?: number | undefined;
  /** Maximum page size of the list, 1 to 1000. Default: 500. */
  readonly maxPageSize?: number | undefined;
  /** Fills `Route.blackhole`. Default: false. */
  readonly blackhole?: boolean | undefined;
  /** Routes depend on the node's addresses. Default: false. */
  readonly targetAddresses?: boolean | undefined;
  /** Supports `context.validateOnly`. Default: false. */
  readonly validateOnly?: boolean | undefined;
  /** Default: IPv4 only. */
  readonly ipFamilies?: readonly IpFamily[] | undefined;
}

interface RouteHandlersBase {
  /** Capabilities that the methods do not show. */
  readonly features?: RouteFeatures | undefined;
  /** Lists the routes with the ownership tags of `context.cluster`, and no others. A normal end means that the list is complete. */
  readonly list: (context: RouteListContext) => AsyncIterable<Route>;
}

/** Creates one route, or updates it to match; one that already matches is success. */
export type EnsureRoute = (
  route: DesiredRoute,
  context: RouteChangeContext,
) => Promise<Route | Pending> | Route | Pending;

/** Creates routes, or updates them to match; returns results in the order of the request. */
export type EnsureRoutes = (
  routes: readonly DesiredRoute[],
  context: RouteChangeContext,
) => Promise<readonly RouteBatchResult[]> | readonly RouteBatchResult[];

/** Deletes one route; one that does not exist is success. Reject a route without this cluster's ownership tags. */
export type DeleteRoute = (
  route: DesiredRoute,
  context: RouteChangeContext,
) => Promise<Pending | undefined | void> | Pending | undefined | void;

/** Deletes routes; returns results in the order of the request. */
export type DeleteRoutes = (
  routes: readonly DesiredRoute[],
  context: RouteChangeContext,
) => Promise<readonly RouteDeleteResult[]> | readonly RouteDeleteResult[];

/** Handlers for routes: `ensure` or `ensureMany`, `delete` or `deleteMany`. */
export type RouteHandlers = RouteHandlersBase &
  (
    | { readonly ensure: EnsureRoute; readonly ensureMany?: undefined }
    | { readonly ensure?: undefined; readonly ensureMany: EnsureRoutes }
  ) &
  (
    | { readonly delete: DeleteRoute; readonly deleteMany?: undefined }
    | { readonly delete?: undefined; readonly deleteMany: DeleteRoutes }
  );
