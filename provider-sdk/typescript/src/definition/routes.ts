import type { ProviderError } from "../results/errors.ts";
import type { CallContext, ChangeContext } from "./call-context.ts";
import type { IpFamily, NodeAddress, NodeAddresses } from "./common.ts";
import type { Pending } from "../results/results.ts";

/** A route from a pod range to a machine, as it is wanted. */
export interface DesiredRoute {
  /** The provider's id for it, if it is known: in deletes, as `list` gave it. */
  readonly id?: string | undefined;
  /** A name to use at the cloud if one must be chosen: different for each range of a node. */
  readonly nameHint?: string | undefined;
  /** spec.providerID of the target. */
  readonly targetProviderId: string;
  /** The part of it after the prefix; undefined if it has none of the provider's prefixes. */
  readonly targetId?: string | undefined;
  /** metadata.name of the target. */
  readonly targetNodeName?: string | undefined;
  /** The pod range: network address, no host bits. */
  readonly destinationCidr: string;
  /** Addresses of the node that the route uses; only with feature `targetAddresses`. */
  readonly targetAddresses: readonly NodeAddress[];
}

/** A route as the cloud has it. */
export interface Route {
  readonly kind?: "route" | undefined;
  /** The provider's id of the route. */
  readonly id: string;
  /** Name of the route at the cloud. */
  readonly nameHint?: string | undefined;
  /** The cloud's id of the target machine, with or without prefix. Undefined: no machine of this cluster any more. */
  readonly targetId?: string | undefined;
  /** Name of the target's Node, if the cloud keeps it. */
  readonly targetNodeName?: string | undefined;
  /** The pod range. */
  readonly destinationCidr: string;
  /** Addresses of the node that the route uses; only with feature `targetAddresses`. */
  readonly targetAddresses?: NodeAddresses | undefined;
  /** True: the target is gone and packets are dropped. */
  readonly blackhole?: boolean | undefined;
}

/** How full the route table is. */
export interface RouteQuota {
  /** Most routes the table takes. */
  readonly limit: number;
  /** Routes in it, other people's included. */
  readonly used: number;
}

/** Context of a list of routes. */
export interface RouteListContext extends CallContext {
  /** Reports how full the table is. */
  readonly reportQuota: (quota: RouteQuota) => void;
}

/** Context of a change of routes. */
export interface RouteChangeContext extends ChangeContext {
  /** Reports how full the table is now. */
  readonly reportQuota: (quota: RouteQuota) => void;
}

/** What came of one route of many: an error is that of this route alone. */
export type RouteBatchResult = Route | Pending | ProviderError | Error;

/** What came of one delete of many: `undefined` says that the route is gone. */
export type RouteDeleteResult = Pending | ProviderError | Error | undefined;

/** Facts about how a provider serves routes. */
export interface RouteFeatures {
  /** Most routes of one change, 1 to 1000. Default: 200. */
  readonly maxBatchSize?: number | undefined;
  /** Largest page of the list, 1 to 1000. Default: 500. */
  readonly maxPageSize?: number | undefined;
  /** `Route.blackhole` is filled. Default: false. */
  readonly blackhole?: boolean | undefined;
  /** Routes depend on the node's addresses. Default: false. */
  readonly targetAddresses?: boolean | undefined;
  /** Honors `context.validateOnly`. Default: false. */
  readonly validateOnly?: boolean | undefined;
  /** Default: IPv4 only. */
  readonly ipFamilies?: readonly IpFamily[] | undefined;
}

interface RouteHandlersBase {
  /** What the methods do not show. */
  readonly features?: RouteFeatures | undefined;
  /** Lists the routes that carry the stamp of `context.cluster`, and no others. A normal end says: complete. */
  readonly list: (context: RouteListContext) => AsyncIterable<Route>;
}

/** Makes one route exist; one that exists as wished is success. */
export type EnsureRoute = (
  route: DesiredRoute,
  context: RouteChangeContext,
) => Promise<Route | Pending> | Route | Pending;

/** Makes many routes exist; answers in the order asked for. */
export type EnsureRoutes = (
  routes: readonly DesiredRoute[],
  context: RouteChangeContext,
) => Promise<readonly RouteBatchResult[]> | readonly RouteBatchResult[];

/** Makes one route be gone; one that does not exist is success, one without this cluster's stamp is refused. */
export type DeleteRoute = (
  route: DesiredRoute,
  context: RouteChangeContext,
) => Promise<Pending | undefined | void> | Pending | undefined | void;

/** Makes many routes be gone; answers in the order asked for. */
export type DeleteRoutes = (
  routes: readonly DesiredRoute[],
  context: RouteChangeContext,
) => Promise<readonly RouteDeleteResult[]> | readonly RouteDeleteResult[];

/** How a provider serves routes: `ensure` or `ensureMany`, `delete` or `deleteMany`. */
export type RouteHandlers = RouteHandlersBase &
  (
    | { readonly ensure: EnsureRoute; readonly ensureMany?: undefined }
    | { readonly ensure?: undefined; readonly ensureMany: EnsureRoutes }
  ) &
  (
    | { readonly delete: DeleteRoute; readonly deleteMany?: undefined }
    | { readonly delete?: undefined; readonly deleteMany: DeleteRoutes }
  );
