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

interface Access<Response, Item> {
  readonly field: string;
  readonly message: string;
  readonly get: (response: Response) => readonly Item[];
  readonly set: (response: Response, items: Item[]) => Response;
  /** @default the item is left out */
  readonly fail?: (item: Item, error: ItemError) => Item;
}

function itemList<Response, Item extends object>(access: Access<Response, Item>): ItemList<Response> {
  const { field, message, get, set, fail } = access;
  return {
    field,
    message: `cloudprovider.v1.${message}`,
    items: get,
    withFailed: (response, failed) => {
      const items = get(response).flatMap((item, index) => {
        const error = failed.get(index);
        if (error === undefined) return [item];
        return fail === undefined ? [] : [fail(item, error)];
      });
      return set(response, items);
    },
  };
}

export function instanceResults<Response extends { results: InstanceResult[] }>(): ItemList<Response> {
  return itemList<Response, InstanceResult>({
    field: "results",
    message: "InstanceResult",
    get: ({ results }) => results,
    set: (response, results) => ({ ...response, results }),
    fail: (result, value) => ({ ...result, outcome: { $case: "unknown", value } }),
  });
}

export function volumeResults<Response extends { results: VolumeResult[] }>(): ItemList<Response> {
  return itemList<Response, VolumeResult>({
    field: "results",
    message: "VolumeResult",
    get: ({ results }) => results,
    set: (response, results) => ({ ...response, results }),
    fail: (result, value) => ({ ...result, outcome: { $case: "unknown", value } }),
  });
}

export function routeResults<Response extends { results: RouteResult[] }>(): ItemList<Response> {
  return itemList<Response, RouteResult>({
    field: "results",
    message: "RouteResult",
    get: ({ results }) => results,
    set: (response, results) => ({ ...response, results }),
    fail: (result, value) => ({ ...result, outcome: { $case: "error", value } }),
  });
}

export function listedInstances<Response extends { instances: Instance[] }>(): ItemList<Response> {
  return itemList<Response, Instance>({
    field: "instances",
    message: "Instance",
    get: ({ instances }) => instances,
    set: (response, instances) => ({ ...response, instances }),
  });
}

export function listedLoadBalancers<Response extends { loadBalancers: LoadBalancer[] }>(): ItemList<Response> {
  return itemList<Response, LoadBalancer>({
    field: "load_balancers",
    message: "LoadBalancer",
    get: ({ loadBalancers }) => loadBalancers,
    set: (response, loadBalancers) => ({ ...response, loadBalancers }),
  });
}

export function listedRoutes<Response extends { routes: Route[] }>(): ItemList<Response> {
  return itemList<Response, Route>({
    field: "routes",
    message: "Route",
    get: ({ routes }) => routes,
    set: (response, routes) => ({ ...response, routes }),
  });
}

export function diagnostics<Response extends { diagnostics: Diagnostic[] }>(): ItemList<Response> {
  return itemList<Response, Diagnostic>({
    field: "diagnostics",
    message: "Diagnostic",
    get: ({ diagnostics: items }) => items,
    set: (response, items) => ({ ...response, diagnostics: items }),
  });
}

export function plannedChanges<Response extends { plannedChanges: PlannedChange[] }>(): ItemList<Response> {
  return itemList<Response, PlannedChange>({
    field: "planned_changes",
    message: "PlannedChange",
    get: ({ plannedChanges: items }) => items,
    set: (response, items) => ({ ...response, plannedChanges: items }),
  });
}

export function conditions<Response extends { conditions: Condition[] }>(): ItemList<Response> {
  return itemList<Response, Condition>({
    field: "conditions",
    message: "Condition",
    get: ({ conditions: items }) => items,
    set: (response, items) => ({ ...response, conditions: items }),
  });
}

export function rateLimits<Response extends { rateLimits: RateLimit[] }>(): ItemList<Response> {
  return itemList<Response, RateLimit>({
    field: "rate_limits",
    message: "RateLimit",
    get: ({ rateLimits: items }) => items,
    set: (response, items) => ({ ...response, rateLimits: items }),
  });
}
