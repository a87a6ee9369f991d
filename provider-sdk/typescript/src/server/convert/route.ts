import type { Route as WireRoute } from "@cloudwire/proto/cloudprovider/v1/route";
import type { Route, WantedRoute } from "../../definition/routes.ts";
import { fromWireAddresses, toWireAddresses } from "./common.ts";
import type { ProviderIds } from "./provider-ids.ts";

/** A wanted route as a provider reads it. */
export const fromWireRoute = (route: WireRoute, ids: ProviderIds): WantedRoute => {
  const parts = ids.parse(route.targetProviderId);
  return {
    ...(route.id ? { id: route.id } : {}),
    ...(route.nameHint ? { nameHint: route.nameHint } : {}),
    targetProviderId: route.targetProviderId,
    ...(parts ? { targetId: parts.id } : {}),
    ...(route.targetNodeName ? { targetNodeName: route.targetNodeName } : {}),
    destinationCidr: route.destinationCidr,
    targetAddresses: fromWireAddresses(route.targetAddresses),
  };
};

/** A route as it travels; `asked` tells the provider ID under which the target is known to Kubernetes. */
export const toWireRoute = (route: Route, ids: ProviderIds, asked?: WireRoute): WireRoute => ({
  id: route.id,
  nameHint: route.nameHint ?? asked?.nameHint ?? "",
  targetProviderId: targetProviderId(route, ids, asked),
  targetNodeName: route.targetNodeName ?? asked?.targetNodeName ?? "",
  destinationCidr: route.destinationCidr,
  targetAddresses: toWireAddresses(route.targetAddresses),
  blackhole: route.blackhole ?? false,
});

const targetProviderId = ({ targetId }: Route, ids: ProviderIds, asked: WireRoute | undefined): string => {
  if (targetId === undefined || targetId === "") return asked?.targetProviderId ?? "";
  return ids.complete(targetId, asked && ids.parse(asked.targetProviderId)?.prefix);
};
