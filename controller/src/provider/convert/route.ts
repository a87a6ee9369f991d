import type { PlannedChange } from "@cloudwire/proto/cloudprovider/v1/common";
import {
  type RouteQuota as WireRouteQuota,
  type RouteResult,
  Route as WireRoute,
} from "@cloudwire/proto/cloudprovider/v1/route";
import type { Route, RouteChanges, RouteOutcome } from "../model/route.ts";
import { errorOfItem } from "./errors.ts";
import { addressesFromProto, brokenAnswer } from "./instance.ts";
import { operationFromProto, plannedChangeFromProto } from "./load-balancer.ts";
import { addressesToProto, fittingAddresses } from "./node.ts";

export function routeToProto(route: Route): WireRoute {
  return { ...route, targetAddresses: addressesToProto(fittingAddresses(route.targetAddresses)) };
}

export function routeFromProto(wire: WireRoute): Route {
  return { ...wire, targetAddresses: addressesFromProto(wire.targetAddresses).addresses };
}

export function routeBytes(route: WireRoute): number {
  return WireRoute.encode(route).finish().length;
}

/** One outcome per route; all fail if the response does not match the request. */
export function routeChangesFromProto(
  routes: readonly WireRoute[],
  response: {
    readonly results: readonly RouteResult[];
    readonly quota: WireRouteQuota | undefined;
    readonly plannedChanges: readonly PlannedChange[];
  },
  { provider, requestId }: { readonly provider: string; readonly requestId: string },
): RouteChanges {
  const { results, quota, plannedChanges } = response;
  const error = brokenAnswer(`${results.length} results for ${routes.length} routes`, provider, requestId);
  const outcomes = routes.map((route, index): RouteOutcome => {
    const result = results.length === routes.length ? results[index] : undefined;
    if (result === undefined) return { kind: "failed", error };
    return routeOutcome(result, `${provider}: route ${route.destinationCidr}`, requestId);
  });
  return { outcomes, quota, plannedChanges: plannedChanges.map((change) => plannedChangeFromProto(change)) };
}

/** `what` names provider and route in the message of an error. */
function routeOutcome(result: RouteResult, what: string, requestId: string): RouteOutcome {
  const { outcome } = result;
  if (outcome === undefined) {
    return { kind: "failed", error: brokenAnswer("the result has no outcome", what, requestId) };
  }
  switch (outcome.$case) {
    case "route":
      return { kind: "done", route: routeFromProto(outcome.value) };
    case "error":
      return { kind: "failed", error: errorOfItem(outcome.value, what, requestId) };
    case "operation":
      return { kind: "pending", operation: operationFromProto(outcome.value) };
  }
  return outcome satisfies never;
}
