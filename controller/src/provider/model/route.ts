import type { NodeAddress } from "../../api/node.ts";
import type { ProviderError } from "./errors.ts";
import type { Operation, PlannedChange } from "./load-balancer.ts";

/** One route from a pod range to a machine. */
export interface Route {
  /** "" when it is yet to be made. */
  readonly id: string;
  /** Name to use at the cloud if one must be chosen. */
  readonly nameHint: string;
  /** "" in answers when the target is no machine of this cloud any more. */
  readonly targetProviderId: string;
  readonly targetNodeName: string;
  /** Canonical text: network address, no host bits. */
  readonly destinationCidr: string;
  readonly targetAddresses: readonly NodeAddress[];
  /** The target is gone and packets are dropped. */
  readonly blackhole: boolean;
}

/** How full the route table is. */
export interface RouteQuota {
  readonly limit: number;
  /** Other people's included. */
  readonly used: number;
}

export interface RouteList {
  readonly routes: readonly Route[];
  readonly complete: boolean;
  readonly quota: RouteQuota | undefined;
}

/** What came of one route of a batch. */
export type RouteOutcome =
  | { readonly kind: "done"; readonly route: Route }
  | { readonly kind: "pending"; readonly operation: Operation }
  | { readonly kind: "failed"; readonly error: ProviderError };

/** What came of a batch of changes. */
export interface RouteChanges {
  /** One for each route of the batch, in order. */
  readonly outcomes: readonly RouteOutcome[];
  readonly quota: RouteQuota | undefined;
  readonly plannedChanges: readonly PlannedChange[];
}
