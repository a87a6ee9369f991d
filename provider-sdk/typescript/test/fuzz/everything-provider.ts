import { setTimeout as sleep } from "node:timers/promises";
import type { CallContext } from "../../src/definition/call-context.ts";
import { absent, pending } from "../../src/results/results.ts";
import type { ProviderDefinition } from "../../src/definition/provider.ts";
import type { LoadBalancer } from "../../src/definition/load-balancers.ts";

/** Waits until the watch ends. */
const untilAborted = ({ signal }: CallContext): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

const loadBalancer = (key: string): LoadBalancer => ({ id: `lb-${key}`, ingress: [{ ip: "192.0.2.1" }] });

/** A provider that claims all there is to claim and makes no mistake: whatever goes wrong when it is served is the SDK's. */
export const everythingProvider: ProviderDefinition = {
  name: "acme.example.com",
  version: "1.0.0",
  idPrefix: "acme://",
  scope: "acct-1",
  check: () => undefined,
  annotations: [
    { key: "acme.example.com/size", type: "enum", allowedValues: ["small", "large"], description: "How large" },
    { key: "acme.example.com/on", type: "bool", description: "Whether it is on" },
  ],
  instances: {
    get: ({ id, name }) => (id?.startsWith("i-") ? { id, name } : absent("LOOKUP_MISS")),
    async *list() {
      for (let index = 0; index < 20; index++) yield { id: `i-${index}`, name: `n${index}` };
    },
    async *watch(_request, context) {
      yield { kind: "upsert", instance: { id: "i-1", name: "n1" }, token: "t1" };
      await untilAborted(context);
    },
  },
  loadBalancers: {
    features: {
      protocols: ["TCP", "UDP", "SCTP"],
      mixedProtocols: true,
      ipFamilies: ["IPv4", "IPv6"],
      dualStack: true,
      sourceRanges: true,
      requestedIp: true,
      sessionAffinity: true,
      externalTrafficPolicyLocal: true,
      deletionProtection: true,
      classes: ["acme", "web"],
      adopt: true,
      validateOnly: true,
    },
    get: ({ key }) => (key.includes("a") ? loadBalancer(key) : absent("LOOKUP_MISS")),
    async *list() {
      yield { ...loadBalancer("k1"), service: { namespace: "default", name: "web", uid: "uid-1" } };
    },
    // Long enough for changes to meet each other.
    ensure: async ({ key, ports }, { signal }) => {
      await sleep(2, undefined, { signal });
      return ports.length > 2 ? pending(`lb-${key}`, { pollAfterMs: 1_000 }) : loadBalancer(key);
    },
    updateNodes: ({ key }) => loadBalancer(key),
    delete: () => undefined,
    async *watch(_request, context) {
      const service = { namespace: "default", name: "web", uid: "uid-1" };
      yield { kind: "upsert", loadBalancer: { ...loadBalancer("k1"), service }, token: "t1" };
      await untilAborted(context);
    },
  },
  routes: {
    features: { validateOnly: true, ipFamilies: ["IPv4", "IPv6"] },
    async *list() {
      yield { id: "r-1", destinationCidr: "10.0.0.0/24", targetId: "i-1" };
    },
    ensure: (route) => ({ ...route, id: "r-1" }),
    delete: () => undefined,
  },
  volumes: {
    features: { csiDrivers: ["acme.example.com"] },
    get: ({ source }) =>
      source.kind === "csi" ? { id: source.volumeHandle, zones: ["zone-a"] } : absent("LOOKUP_MISS"),
  },
};
