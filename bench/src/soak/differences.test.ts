import type { Instance, LoadBalancer } from "@cloudwire/provider-simulated";
import type { Json } from "@cloudwire/test";
import { describe, expect, test } from "vitest";
import { type ActualObjects, targetsDigest, differencesFrom, type DesiredObjects } from "./differences.ts";

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

const desired: DesiredObjects = {
  nodes: new Map([["n-1", "i-1"]]),
  services: [{ name: "web", uid: "uid-1", type: "LoadBalancer", port: 8080 }],
};
const unwanted: DesiredObjects = {
  ...desired,
  services: [{ name: "web", uid: "uid-1", type: "ClusterIP", port: 8080 }],
};
const actual: ActualObjects = {
  nodes: [node],
  services: [{ metadata: { name: "kubernetes" } }, service],
  instances: [instance],
  loadBalancers: [loadBalancer],
};

describe("differencesFrom()", () => {
  test("finds nothing when all objects are up to date", () => {
    expect(differencesFrom(desired, actual)).toEqual([]);
  });

  test("finds nothing when a Service has given its load balancer up", () => {
    expect(differencesFrom(unwanted, { ...actual, services: [withoutAddress], loadBalancers: [] })).toEqual([]);
  });

  test.each<[Partial<ActualObjects>, string]>([
    [{ nodes: [] }, "Node n-1 is missing, its instance exists"],
    [{ instances: [] }, "Node n-1 has no instance in the cloud: a bug of the soak test"],
    [{ nodes: [node, { ...node, metadata: { name: "n-2" } }] }, "Node n-2 still exists, its instance does not"],
    [
      {
        nodes: [
          { ...node, spec: { ...node.spec, taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized" }] } },
        ],
      },
      "Node n-1 still has the taint node.cloudprovider.kubernetes.io/uninitialized",
    ],
    [{ nodes: [{ ...node, spec: {} }] }, "Node n-1 does not have the provider ID sim://north-a/i-1"],
    [{ nodes: [{ ...node, metadata: { name: "n-1" } }] }, "Node n-1 does not have the zone north-a"],
    [{ nodes: [{ ...node, status: {} }] }, "Node n-1 does not have the address 127.200.0.1"],
  ])("finds a node that differs from the desired one: %#", (changes, sentence) => {
    expect(differencesFrom(desired, { ...actual, ...changes })).toEqual([sentence]);
  });

  test.each<[Partial<ActualObjects>, string]>([
    [{ services: [] }, "Service web is missing"],
    [{ services: [service, { metadata: { name: "old" } }] }, "Service old still exists after its deletion"],
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
      { loadBalancers: [loadBalancer, { ...loadBalancer, name: "orphan", tags: {} }] },
      "Load balancer orphan is in the cloud, its Service does not exist",
    ],
  ])("finds a Service that differs from the desired one: %#", (changes, sentence) => {
    expect(differencesFrom(desired, { ...actual, ...changes })).toEqual([sentence]);
  });

  test.each<[Partial<ActualObjects>, string]>([
    [{ services: [withoutAddress] }, "Service web has an unneeded load balancer"],
    [{ loadBalancers: [] }, "Service web has the address of an unneeded load balancer"],
  ])("finds what is left of a load balancer that was given up: %#", (changes, sentence) => {
    expect(differencesFrom(unwanted, { ...actual, ...changes })).toEqual([sentence]);
  });
});
