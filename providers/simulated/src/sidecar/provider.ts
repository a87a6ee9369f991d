import type { ProviderDefinition } from "@cloudwire/provider-sdk";
import { createCloudAccess, type CloudAccessOptions } from "./cloud-access.ts";
import { instanceHandlers } from "./instances.ts";
import { annotationSchemas, domain } from "./load-balancers/annotations.ts";
import { loadBalancerHandlers } from "./load-balancers/handlers.ts";
import { providerIdPrefix } from "./provider-id.ts";
import { routeHandlers } from "./routes.ts";
import { volumeHandlers } from "./volumes.ts";

/** The provider for the simulated cloud, as the SDK serves it. */
export function createSimulatedProvider(options: CloudAccessOptions): ProviderDefinition {
  const cloud = createCloudAccess(options);
  return {
    name: domain,
    version: "0.1.0",
    idPrefix: providerIdPrefix,
    // The account: another one behind the same key is another world, in which all our nodes are missing.
    scope: async (context) => `simcloud/${await cloud.account(context)}`,
    // Nothing more to ask: the scope is read with every check and proves as much.
    check: () => undefined,
    instances: instanceHandlers(cloud),
    loadBalancers: loadBalancerHandlers(cloud),
    routes: routeHandlers(cloud),
    volumes: volumeHandlers(cloud),
    annotations: annotationSchemas,
  };
}
