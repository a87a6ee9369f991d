import type { RouteResult, Route as WireRoute } from "@cloudwire/proto/cloudprovider/v1/route";
import type { Route, RouteOutcome } from "../model/route.ts";
import { errorOfItem } from "./errors.ts";
import { addressesFromProto, brokenAnswer } from "./instance.ts";
import { operationFromProto } from "./load-balancer.ts";
import { addressesToProto } from "./node.ts";

export function routeToProto(route: Route): WireRoute {
  return { ...route, targetAddresses: addressesToProto(route.targetAddresses) };
}

export function routeFromProto(wire: WireRoute): Route {
  return { ...wire, targetAddresses: addressesFromProto(wire.targetAddresses).addresses };
}

/** `what` names provider and route in the message of an error. */
export function routeOutcome(result: RouteResult, what: string, requestId: string): RouteOutcome {
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
