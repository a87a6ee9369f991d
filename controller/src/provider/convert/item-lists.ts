import type { Condition, Diagnostic, PlannedChange } from "@cloudwire/proto/cloudprovider/v1/common";
import type { ItemError } from "@cloudwire/proto/cloudprovider/v1/error";
import type { RateLimit } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { Instance, InstanceResult } from "@cloudwire/proto/cloudprovider/v1/instance";
import type { LoadBalancer } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import type { Route, RouteResult } from "@cloudwire/proto/cloudprovider/v1/route";
import type { VolumeResult } from "@cloudwire/proto/cloudprovider/v1/volume";

/** Items of a response that can violate the contract without the rest of the response. */
export interface ItemList<Response> {
  /** Name of the field in proto spelling. */
  readonly field: string;
  /** Full name of the items' message. */
  readonly message: string;
  items(response: Response): readonly object[];
  /** The response in which these items failed, or are left out. */
  withFailed(response: Response, failed: ReadonlyMap<number, ItemError>): Response;
}

type Failing<Item> = (item: Item, error: ItemError) => Item;

/** @param fail undefined: the item is left out */
function itemList<Key extends string, Item extends object>(
  key: Key,
  field: string,
  message: string,
  fail?: Failing<Item>,
) {
  return <Response extends Readonly<Record<Key, readonly Item[]>>>(): ItemList<Response> => ({
    field,
    message: `cloudprovider.v1.${message}`,
    items: (response) => response[key],
    withFailed: (response, failed) => {
      const items = response[key].flatMap((item: Item, index) => {
        const error = failed.get(index);
        if (error === undefined) return [item];
        return fail === undefined ? [] : [fail(item, error)];
      });
      return { ...response, [key]: items };
    },
  });
}

export const instanceResults = itemList<"results", InstanceResult>(
  "results",
  "results",
  "InstanceResult",
  (result, value) => ({
    ...result,
    outcome: { $case: "unknown", value },
  }),
);
export const volumeResults = itemList<"results", VolumeResult>(
  "results",
  "results",
  "VolumeResult",
  (result, value) => ({
    ...result,
    outcome: { $case: "unknown", value },
  }),
);
export const routeResults = itemList<"results", RouteResult>("results", "results", "RouteResult", (result, value) => ({
  ...result,
  outcome: { $case: "error", value },
}));
export const listedInstances = itemList<"instances", Instance>("instances", "instances", "Instance");
export const listedLoadBalancers = itemList<"loadBalancers", LoadBalancer>(
  "loadBalancers",
  "load_balancers",
  "LoadBalancer",
);
export const listedRoutes = itemList<"routes", Route>("routes", "routes", "Route");
export const diagnostics = itemList<"diagnostics", Diagnostic>("diagnostics", "diagnostics", "Diagnostic");
export const plannedChanges = itemList<"plannedChanges", PlannedChange>(
  "plannedChanges",
  "planned_changes",
  "PlannedChange",
);
export const conditions = itemList<"conditions", Condition>("conditions", "conditions", "Condition");
export const rateLimits = itemList<"rateLimits", RateLimit>("rateLimits", "rate_limits", "RateLimit");
