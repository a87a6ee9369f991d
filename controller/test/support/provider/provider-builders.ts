import { ProviderError } from "../../../src/provider/model/errors.ts";
import type { ProviderClient } from "../../../src/provider/model/client.ts";
import type {
  Capabilities,
  InstanceCapabilities,
  LoadBalancerCapabilities,
  ProviderInfo,
} from "../../../src/provider/model/info.ts";
import type { Provider } from "../../../src/provider/model/provider.ts";

/** What a provider declares that serves load balancers and nothing optional of them. */
export function capabilities(parts: Partial<LoadBalancerCapabilities> = {}): LoadBalancerCapabilities {
  return {
    list: undefined,
    watch: undefined,
    nodeSets: undefined,
    updateNodes: true,
    validateOnly: false,
    protocols: ["TCP"],
    mixedProtocols: false,
    ipFamilies: ["IPv4"],
    dualStack: false,
    sourceRanges: false,
    requestedIp: false,
    sessionAffinity: false,
    externalTrafficPolicyLocal: false,
    deletionProtection: false,
    ipModes: ["VIP"],
    classes: [],
    maxPorts: undefined,
    maxNodes: undefined,
    needsNodePorts: true,
    maxConcurrentChanges: 10,
    lockScope: "service",
    adopt: false,
    ...parts,
  };
}

/** What a provider declares that can do all that a Service may ask for. */
export const ALL_CAPABILITIES = capabilities({
  protocols: ["TCP", "UDP", "SCTP"],
  ipFamilies: ["IPv4", "IPv6"],
  dualStack: true,
  sourceRanges: true,
  requestedIp: true,
  sessionAffinity: true,
  externalTrafficPolicyLocal: true,
});

export function instanceCapabilities(parts: Partial<InstanceCapabilities> = {}): InstanceCapabilities {
  return {
    maxBatchSize: 200,
    list: undefined,
    watch: undefined,
    shutdownState: true,
    podCidrs: false,
    existenceConsistencyDelayMs: 60_000,
    lookupByName: true,
    ...parts,
  };
}

/** Handshake of a provider that serves instances and load balancers. */
export function info(
  parts: Partial<Omit<ProviderInfo, "capabilities">> & { readonly capabilities?: Partial<Capabilities> } = {},
): ProviderInfo {
  return {
    name: "acme.example.com",
    version: "1.2.3",
    contractMinor: 0,
    services: ["cloudprovider.v1.CloudProvider"],
    bootId: "boot-1",
    providerIdPrefixes: ["acme://"],
    scopeId: "project-1",
    limits: {
      maxConcurrentCalls: 16,
      maxReceiveBytes: 4_194_304,
      maxInlineNodes: 15_000,
      softCallDurationMs: 10_000,
      minStatusIntervalMs: 10_000,
      minResyncIntervalMs: 60_000,
      callRates: [],
    },
    annotationPrefixes: [],
    annotations: [],
    nodeLabelKeys: [],
    nodeAnnotationKeys: [],
    diagnostics: [],
    build: {},
    homeUrl: "",
    ...parts,
    capabilities: {
      instances: instanceCapabilities(),
      loadBalancers: capabilities(),
      routes: undefined,
      volumes: undefined,
      ...parts.capabilities,
    },
  };
}

/** A provider that is never called. Without info it has not responded yet. */
export function idleProvider(name: string, declared: ProviderInfo | undefined): Provider {
  const refuse = (): never => {
    throw new Error(`provider ${name} was not to be called`);
  };
  const client: ProviderClient = {
    getInstances: refuse,
    listInstances: refuse,
    watchInstances: refuse,
    getLoadBalancer: refuse,
    checkLoadBalancer: refuse,
    listLoadBalancers: refuse,
    ensureLoadBalancer: refuse,
    updateLoadBalancerNodes: refuse,
    deleteLoadBalancer: refuse,
    watchLoadBalancers: refuse,
    applyNodeSet: refuse,
    listRoutes: refuse,
    ensureRoutes: refuse,
    deleteRoutes: refuse,
    getVolumes: refuse,
  };
  const unavailable =
    declared === undefined
      ? new ProviderError({ code: "UNAVAILABLE", message: `${name} is not connected` })
      : undefined;
  return { name, client, info: declared, unavailable, untrustedReason: unavailable?.message };
}
