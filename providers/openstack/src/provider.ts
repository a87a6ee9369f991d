import type { CallRate, ProviderDefinition } from "@cloudwire/provider-sdk";
import { type CloudSettings, OpenStack } from "./cloud/openstack.ts";
import { Instances, type InstanceSettings } from "./instances/handlers.ts";
import { providerIdPrefix } from "./instances/provider-id.ts";
import { annotationSchemas } from "./load-balancers/annotations.ts";
import { loadBalancerHandlers } from "./load-balancers/handlers.ts";
import type { LoadBalancerSettings } from "./load-balancers/octavia-spec.ts";
import { routeHandlers, type RouteSettings } from "./routes/handlers.ts";
import { Router } from "./routes/router.ts";
import { volumeHandlers } from "./volumes.ts";

export interface OpenStackProviderOptions extends CloudSettings, InstanceSettings {
  /** Undefined: something else takes care of Services, and load balancers are not claimed. */
  readonly loadBalancers?: LoadBalancerSettings | undefined;
  /** Undefined: something else takes care of pod CIDRs, and routes are not claimed. */
  readonly routes?: RouteSettings | undefined;
  /** This cluster's share of the cloud's rate limit. */
  readonly callRate: CloudCallRate;
}

/** How often the cloud may be called. */
export type CloudCallRate = Pick<CallRate, "cloudCallsPerSecond"> & { readonly burst: number };

/** Of the provider's name. */
const domain = "openstack.cloudwire.dev";

/** The provider for OpenStack, as the SDK serves it. */
export function createOpenStackProvider(
  options: OpenStackProviderOptions,
  nowMs: () => number = Date.now,
): ProviderDefinition {
  const openStack = new OpenStack(options, nowMs);
  const instances = new Instances(openStack, options, nowMs);
  return {
    name: domain,
    version: "0.1.0",
    idPrefix: providerIdPrefix,
    scope: async (context) => `${await openStack.projectId(context)}/${options.region}`,
    // A token alone does not prove that Nova takes it.
    check: async (context) => instances.reader.check(context),
    instances: instances.handlers,
    ...(options.loadBalancers
      ? { loadBalancers: loadBalancerHandlers(openStack, options.loadBalancers), annotations: annotationSchemas }
      : {}),
    ...(options.routes
      ? {
          routes: routeHandlers(
            new Router(openStack, options.routes.routerId),
            instances.reader,
            options,
            options.routes,
          ),
        }
      : {}),
    volumes: volumeHandlers(openStack),
    limits: { callRates: [options.callRate] },
  };
}
