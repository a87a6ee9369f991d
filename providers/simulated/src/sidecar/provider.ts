import type { CallRate, ProviderDefinition } from "@cloudwire/provider-sdk";
import { brandOf, withClassesOf } from "./brand.ts";
import { createCloudAccess, type CloudAccessOptions } from "./cloud-access.ts";
import { instanceHandlers } from "./instances/handlers.ts";
import { annotationSchemas } from "./load-balancers/annotations.ts";
import { loadBalancerHandlers } from "./load-balancers/handlers.ts";
import { routeHandlers } from "./routes.ts";
import { volumeHandlers } from "./volumes.ts";

export interface SimulatedProviderOptions extends CloudAccessOptions {
  /** Distinguishes this cloud from others in the same cluster: a name, a provider-ID prefix and load balancer classes of its own. */
  readonly brand?: string | undefined;
  /** Plugins in whose style PersistentVolumes name volumes of this cloud. */
  readonly inTreePlugins?: readonly string[];
  /** What the account's rate limit leaves to this cluster. The cloud counts all calls of an account together. */
  readonly callRate?: CallRate | undefined;
  /** Changes of load balancers that the cloud takes at once; the controller is allowed more, as some of them wait. */
  readonly maxConcurrentChanges?: number | undefined;
  /** @default that of the contract */
  readonly minResyncIntervalMs?: number | undefined;
}

/** The provider for the simulated cloud, as the SDK serves it. */
export function createSimulatedProvider(options: SimulatedProviderOptions): ProviderDefinition {
  const cloud = createCloudAccess(options);
  const brand = brandOf(options.brand);
  return {
    name: brand.name,
    version: "0.1.0",
    idPrefix: brand.idPrefix,
    // The account: another one behind the same key is another world, in which all our nodes are missing.
    scope: async (context) => `simcloud/${await cloud.account(context)}`,
    // Nothing more to ask: the scope is read with every check and proves as much.
    check: () => undefined,
    instances: instanceHandlers(cloud),
    loadBalancers: withClassesOf(brand, loadBalancerHandlers(cloud, options.maxConcurrentChanges)),
    routes: routeHandlers(cloud),
    volumes: volumeHandlers(cloud, options.inTreePlugins),
    annotations: annotationSchemas,
    limits: {
      callRates: options.callRate === undefined ? [] : [options.callRate],
      minResyncIntervalMs: options.minResyncIntervalMs,
    },
  };
}
