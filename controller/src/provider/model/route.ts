import type { NodeAddress } from "../../api/node.ts";
import type { ProviderError } from "./errors.ts";
import type { Operation, PlannedChange } from "./load-balancer.ts";

export interface Route {
  /** "": not created yet. */
  readonly id: string;
  /** Suggested name in the cloud. */
  readonly nameHint: string;
  /** "" in responses: the target is not an instance of this cloud. */
  readonly targetProviderId: string;
  readonly targetNodeName: string;
  /** Canonical: network address without host bits. */
  readonly destinationCidr: string;
  readonly targetAddresses: readonly NodeAddress[];
  /** The target does not exist: packets are dropped. */
  readonly blackhole: boolean;
}

/** Usage of the route table. */
export interface RouteQuota {
  readonly limit: number;
  /** Including routes of others. */
  readonly used: number;
}

export interface RouteList {
  readonly routes: readonly Route[];
  readonly complete: boolean;
  readonly quota: RouteQuota | undefined;
}

export type RouteOutcome =
  | { readonly kind: "done"; readonly route: Route }
  | { readonly kind: "pending"; readonly operation: Operation }
  | { readonly kind: "failed"; readonly error: ProviderError };

export interface RouteChanges {
  /** One per route, in order. */
  readonly outcomes: readonly RouteOutcome[];
  readonly quota: RouteQuota | undefined;
  readonly plannedChanges: readonly PlannedChange[];
}
