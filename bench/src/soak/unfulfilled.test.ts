import type { Instance, LoadBalancer } from "@cloudwire/provider-simulated";
import type { Json } from "@cloudwire/test";
import { describe, expect, test } from "vitest";
import { type Reality, targetsDigest, unfulfilled, type Wishes } from "./unfulfilled.ts";

const TIMES = { createdAt: "2026-01-01T00:00:00Z", updatedAt: "2026-01-01T00:00:00Z", revision: 1 };

const instance: Instance = {
  ...TIMES,
  id: "i-1",
  name: "n-1",
  tags: {},
  type: "small",
  region: "north",
  zone: "north-a",
  hostname: "n-1",
  state: "running",
  stateReason: "",
  internalAddresses: ["127.200.0.1"],
  externalAddresses: [],
  podCidrs: [],
};
const loadBalancer: LoadBalancer = {
  ...TIMES,
  id: "lb-1",
  name: "web",
  tags: { "cloudwire.dev/service-uid": "uid-1" },
  class: "standard",
  region: "north",
  address: "127.201.0.1",
  hostname: "lb-1",
  state: "active",
  stateReason: "",
  listeners: [{ port: 8080, protocol: "tcp", targetPort: 30_000, boundPort: 8080, status: "listening" }],
  sourceRanges: [],
  sessionAffinity: "none",
  idleTimeoutMs: 1000,
  protected: false,
  metadata: {},
  targetCount: 1,
  targetsDigest: targetsDigest(["i-1"]),
};
const node = {
  metadata: { name: "n-1", labels: { "topology.kubernetes.io/zone": "north-a" } },
  spec: { providerID: "sim://north-a/i-1", taints: [] },
  status: { addresses: [{ type: "InternalIP", address: "127.200.0.1" }] },
} as const satisfies Json;
const service = {
  metadata: { name: "web" },
  status: { loadBalancer: { ingress: [{ ip: "127.201.0.1" }] } },
} as const satisfies Json;
const withoutAddress = { ...service, status: { loadBalancer: {} } };

const wishes: Wishes = {
  nodes: new Map([["n-1", "i-1"]]),
  services: [{ name: "web", uid: "uid-1", type: "LoadBalancer", port: 8080 }],
};
const unwanted: Wishes = { ...wishes, services: [{ name: "web", uid: "uid-1", type: "ClusterIP", port: 8080 }] };
const reality: Reality = {
  nodes: [node],
  services: [{ metadata: { name: "kubernetes" } }, service],
  instances: [instance],
  loadBalancers: [loadBalancer],
};

describe("unfulfilled()", () => {
  test("finds nothing when all is as wished", () => {
    expect(unfulfilled(wishes, reality)).toEqual([]);
  });

  test("finds nothing when a Service has given its load balancer up", () => {
    expect(unfulfilled(unwanted, { ...reality, services: [withoutAddress], loadBalancers: [] })).toEqual([]);
  });

  test.each<[Partial<Reality>, string]>([
    [{ nodes: [] }, "Node n-1 is missing, its machine is there"],
    [{ instances: [] }, "Node n-1 has no machine at the cloud: the soak itself is wrong"],
    [{ nodes: [node, { ...node, metadata: { name: "n-2" } }] }, "Node n-2 is still there, its machine is gone"],
    [
      {
        nodes: [
          { ...node, spec: { ...node.spec, taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized" }] } },
        ],
      },
      "Node n-1 still has the taint node.cloudprovider.kubernetes.io/uninitialized",
    ],
    [{ nodes: [{ ...node, spec: {} }] }, "Node n-1 has not the provider ID sim://north-a/i-1"],
    [{ nodes: [{ ...node, metadata: { name: "n-1" } }] }, "Node n-1 has not the zone north-a"],
    [{ nodes: [{ ...node, status: {} }] }, "Node n-1 has not the address 127.200.0.1"],
  ])("finds a node that is not as wished: %#", (changes, sentence) => {
    expect(unfulfilled(wishes, { ...reality, ...changes })).toEqual([sentence]);
  });

  test.each<[Partial<Reality>, string]>([
    [{ services: [] }, "Service web is missing"],
    [{ services: [service, { metadata: { name: "old" } }] }, "Service old is still there, it was deleted"],
    [{ loadBalancers: [] }, "Service web has 0 load balancers instead of 1"],
    [{ loadBalancers: [loadBalancer, loadBalancer] }, "Service web has 2 load balancers instead of 1"],
    [{ loadBalancers: [{ ...loadBalancer, state: "updating" }] }, "Service web has a load balancer that is updating"],
    [{ loadBalancers: [{ ...loadBalancer, listeners: [] }] }, "Service web wants port 8080, its load balancer has "],
    [
      { loadBalancers: [{ ...loadBalancer, address: "127.201.0.2" }] },
      "Service web has the address 127.201.0.1, its load balancer 127.201.0.2",
    ],
    [
      { loadBalancers: [{ ...loadBalancer, targetCount: 0, targetsDigest: targetsDigest([]) }] },
      "Service web has a load balancer with 0 targets that are not all the nodes",
    ],
    [
      { loadBalancers: [loadBalancer, { ...loadBalancer, name: "stray", tags: {} }] },
      "Load balancer stray is at the cloud, its Service is gone",
    ],
  ])("finds a Service that is not as wished: %#", (changes, sentence) => {
    expect(unfulfilled(wishes, { ...reality, ...changes })).toEqual([sentence]);
  });

  test.each<[Partial<Reality>, string]>([
    [{ services: [withoutAddress] }, "Service web has a load balancer that it does not want"],
    [{ loadBalancers: [] }, "Service web has the address of a load balancer that it does not want"],
  ])("finds what is left of a load balancer that was given up: %#", (changes, sentence) => {
    expect(unfulfilled(unwanted, { ...reality, ...changes })).toEqual([sentence]);
  });
});
