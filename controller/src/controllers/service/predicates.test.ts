import { describe, expect, test } from "vitest";
import {
  CREATED_MS,
  ingress,
  type NodeParts,
  node,
  type ServiceParts,
  service,
  servicePort,
  taint,
} from "../../../test/support/builders.ts";
import { LOAD_BALANCER_READY } from "../../api/load-balancer-condition.ts";
import type { LoadBalancerIngress } from "../../api/service.ts";
import {
  changesTargets,
  concernsAdded,
  concernsUpdated,
  hasFinalizer,
  isTarget,
  isDeletionProtected,
  losesStatus,
  needsCleanup,
  needsUpdate,
  wantsLoadBalancer,
} from "./predicates.ts";

const FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const EXCLUDE = "node.kubernetes.io/exclude-from-external-load-balancers";
const finalized = { finalizers: ["other", FINALIZER] };
const deleting = { deletionTimestampMs: CREATED_MS };

const clusterIp = (metadata: ServiceParts["metadata"] = {}) =>
  service("web", { metadata, spec: { type: "ClusterIP" } });

describe("wantsLoadBalancer()", () => {
  test.each([
    { type: "LoadBalancer", want: true },
    { type: "ClusterIP", want: false },
    { type: "NodePort", want: false },
    { type: "ExternalName", want: false },
  ])("is $want for $type", ({ type, want }) => {
    expect(wantsLoadBalancer(service("web", { spec: { type } }))).toBe(want);
  });
});

describe("needsCleanup()", () => {
  test.each([
    {
      it: "a deleted Service with our finalizer",
      given: service("web", { metadata: { ...finalized, ...deleting } }),
      want: true,
    },
    { it: "another type with our finalizer", given: clusterIp(finalized), want: true },
    {
      it: "a deleted Service of another type with our finalizer",
      given: clusterIp({ ...finalized, ...deleting }),
      want: true,
    },
    { it: "a Service in use", given: service("web", { metadata: finalized }), want: false },
    {
      it: "a deleted Service without our finalizer",
      given: service("web", { metadata: { finalizers: ["other"], ...deleting } }),
      want: false,
    },
    { it: "another type without our finalizer", given: clusterIp(), want: false },
  ])("is $want for $it", ({ given, want }) => {
    expect(needsCleanup(given)).toBe(want);
  });
});

describe("needsUpdate()", () => {
  const old = service("web", {
    metadata: { annotations: { a: "1" } },
    spec: {
      ports: [servicePort({ name: "http" }), servicePort({ name: "https", port: 443, nodePort: 30_443 })],
      loadBalancerSourceRanges: ["10.0.0.0/8"],
      externalIPs: ["192.0.2.1"],
    },
  });
  const changed = (spec: ServiceParts["spec"]) => ({ ...old, spec: { ...old.spec, ...spec } });
  const [http, https] = [servicePort({ name: "http" }), servicePort({ name: "https", port: 443, nodePort: 30_443 })];

  test.each([
    { it: "source ranges", now: changed({ loadBalancerSourceRanges: ["10.0.0.0/9"] }) },
    { it: "the number of ports", now: changed({ ports: [http] }) },
    { it: "the order of ports", now: changed({ ports: [https, http] }) },
    { it: "a port's name", now: changed({ ports: [{ ...http, name: "x" }, https] }) },
    { it: "a port's protocol", now: changed({ ports: [{ ...http, protocol: "UDP" }, https] }) },
    { it: "a port", now: changed({ ports: [{ ...http, port: 81 }, https] }) },
    { it: "a node port", now: changed({ ports: [{ ...http, nodePort: 30_081 }, https] }) },
    { it: "a target port", now: changed({ ports: [{ ...http, targetPort: "web" }, https] }) },
    { it: "an application protocol", now: changed({ ports: [{ ...http, appProtocol: "h2c" }, https] }) },
    { it: "session affinity", now: changed({ sessionAffinity: "ClientIP" }) },
    { it: "its configuration", now: changed({ sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } } }) },
    { it: "the requested IP", now: changed({ loadBalancerIP: "192.0.2.9" }) },
    { it: "external IPs", now: changed({ externalIPs: ["192.0.2.2"] }) },
    { it: "the external traffic policy", now: changed({ externalTrafficPolicy: "Local" }) },
    { it: "the health check node port", now: changed({ healthCheckNodePort: 31_000 }) },
    { it: "the number of families", now: changed({ ipFamilies: ["IPv4", "IPv6"] }) },
    { it: "the class", now: changed({ loadBalancerClass: "acme/x" }) },
    { it: "the type, away from LoadBalancer", now: changed({ type: "ClusterIP" }) },
    { it: "any annotation", now: { ...old, metadata: { ...old.metadata, annotations: { a: "1", b: "2" } } } },
    { it: "the UID", now: { ...old, metadata: { ...old.metadata, uid: "other" } } },
  ])("is true when $it changed", ({ now }) => {
    expect([needsUpdate(old, now), needsUpdate(now, old)]).toEqual([true, true]);
  });

  test.each([
    { it: "nothing", now: old },
    { it: "labels", now: { ...old, metadata: { ...old.metadata, labels: { l: "1" } } } },
    { it: "finalizers", now: { ...old, metadata: { ...old.metadata, finalizers: ["x"] } } },
    { it: "cluster IPs", now: changed({ clusterIP: "10.96.0.99", clusterIPs: ["10.96.0.99"] }) },
    { it: "which family", now: changed({ ipFamilies: ["IPv6"] }) },
    { it: "the family policy", now: changed({ ipFamilyPolicy: "PreferDualStack" }) },
    { it: "the internal traffic policy", now: changed({ internalTrafficPolicy: "Local" }) },
    { it: "the traffic distribution", now: changed({ trafficDistribution: "PreferClose" }) },
    { it: "publishing of unready addresses", now: changed({ publishNotReadyAddresses: true }) },
    { it: "allocation of node ports", now: changed({ allocateLoadBalancerNodePorts: false }) },
    { it: "the status", now: { ...old, status: { ...old.status, loadBalancer: { ingress: [] } } } },
  ])("is false when $it changed", ({ now }) => {
    expect(needsUpdate(old, now)).toBe(false);
  });

  test("is false for what is no load balancer before and after", () => {
    expect(needsUpdate(clusterIp(), clusterIp({ annotations: { a: "2" } }))).toBe(false);
  });
});

describe("concernsAdded()", () => {
  test.each([
    { it: "a load balancer", given: service("web"), want: true },
    {
      it: "a load balancer of any class",
      given: service("web", { spec: { loadBalancerClass: "x/y" } }),
      want: true,
    },
    { it: "another type with our finalizer", given: clusterIp(finalized), want: true },
    { it: "another type", given: clusterIp({ finalizers: ["other"] }), want: false },
  ])("is $want for $it", ({ given, want }) => {
    expect(concernsAdded(given)).toBe(want);
  });
});

describe("concernsUpdated()", () => {
  const plain = service("web");
  const held = service("web", { metadata: finalized });

  test.each([
    {
      it: "a changed spec",
      old: held,
      now: service("web", { metadata: finalized, spec: { loadBalancerIP: "192.0.2.1" } }),
    },
    { it: "a Service that became a load balancer", old: clusterIp(), now: plain },
    { it: "a Service that is deleted", old: held, now: service("web", { metadata: { ...finalized, ...deleting } }) },
    { it: "a Service that is deleted without our finalizer", old: plain, now: service("web", { metadata: deleting }) },
    { it: "a finalizer that was taken off", old: held, now: plain },
    {
      it: "an annotation of another type that waits for its clean-up",
      old: clusterIp({ ...finalized, annotations: { a: "1" } }),
      now: clusterIp({ ...finalized, annotations: { a: "2" } }),
    },
    {
      it: "an annotation of a Service that is being deleted",
      old: service("web", { metadata: { ...finalized, ...deleting, annotations: { a: "1" } } }),
      now: service("web", { metadata: { ...finalized, ...deleting } }),
    },
    { it: "a finalizer that was put on a Service of another type", old: clusterIp(), now: clusterIp(finalized) },
    {
      it: "an annotation, which may say what holds a clean-up up",
      old: clusterIp(finalized),
      now: clusterIp({ ...finalized, annotations: { a: "b" } }),
    },
  ])("is true for $it", ({ old, now }) => {
    expect(concernsUpdated(old, now)).toBe(true);
  });

  test.each([
    { it: "the finalizer that we put on", old: plain, now: held },
    {
      it: "a resync of a deletion, which waits in the queue by itself",
      old: clusterIp(finalized),
      now: clusterIp(finalized),
    },
    { it: "a resync", old: held, now: held },
    {
      it: "an annotation of another type that has nothing of ours",
      old: clusterIp({ annotations: { a: "1" } }),
      now: clusterIp({ annotations: { a: "2" } }),
    },
    { it: "the finalizer that we took off another type", old: clusterIp(finalized), now: clusterIp() },
  ])("is false for $it", ({ old, now }) => {
    expect(concernsUpdated(old, now)).toBe(false);
  });
});

describe("isDeletionProtected()", () => {
  const saying = (value: string) =>
    service("web", { metadata: { annotations: { "service.cloudwire.dev/deletion-protection": value } } });

  test.each(["true", "True", "1", "yes", "", "flase"])("is true for %j: a word misspelled must not delete", (value) => {
    expect(isDeletionProtected(saying(value))).toBe(true);
  });

  test.each(["false", "False", "FALSE", "f", "F", "0"])("is false for %j", (value) => {
    expect(isDeletionProtected(saying(value))).toBe(false);
  });

  test("is false without the annotation", () => {
    expect(isDeletionProtected(service("web", { metadata: { annotations: { other: "true" } } }))).toBe(false);
  });
});

test("hasFinalizer() looks for ours among others", () => {
  expect([hasFinalizer(service("web", { metadata: finalized })), hasFinalizer(service("web"))]).toEqual([true, false]);
});

const member = (parts: NodeParts = {}): ReturnType<typeof node> =>
  node("a", { ...parts, spec: { providerID: "acme://a", ...parts.spec } });

describe("isTarget()", () => {
  test.each(["0", "f", "F", "false", "False", "FALSE"])("keeps a node in whose exclusion label is %j", (value) => {
    expect(isTarget(member({ metadata: { labels: { [EXCLUDE]: value } } }))).toBe(true);
  });

  test.each(["", "true", "1", "no", "off", "fALSE", " false"])(
    "leaves a node out whose exclusion label is %j",
    (value) => {
      expect(isTarget(member({ metadata: { labels: { [EXCLUDE]: value } } }))).toBe(false);
    },
  );

  test.each([
    { it: "is not ready", given: member({ status: { conditions: [] } }), want: true },
    { it: "is cordoned", given: member({ spec: { unschedulable: true } }), want: true },
    {
      it: "waits for its cloud but has a provider ID",
      given: member({ spec: { taints: [taint("node.cloudprovider.kubernetes.io/uninitialized")] } }),
      want: true,
    },
    { it: "is being deleted", given: member({ metadata: deleting }), want: false },
    {
      it: "is about to be removed by the autoscaler",
      given: member({ spec: { taints: [taint("ToBeDeletedByClusterAutoscaler")] } }),
      want: false,
    },
    { it: "has no provider ID", given: member({ spec: { providerID: "" } }), want: false },
  ])("is $want for a node that $it", ({ given, want }) => {
    expect(isTarget(given)).toBe(want);
  });
});

describe("losesStatus()", () => {
  const [ours, theirs] = [ingress({ ip: "203.0.113.1" }), ingress({ ip: "198.51.100.9" })];
  const condition = {
    type: LOAD_BALANCER_READY,
    status: "True",
    observedGeneration: 0,
    lastTransitionTimeMs: CREATED_MS,
    reason: "Ready",
    message: "",
  };
  const saying = (points: readonly LoadBalancerIngress[], parts: ServiceParts = {}) =>
    service("web", { ...parts, status: { loadBalancer: { ingress: points }, ...parts.status } });
  const published = [ours];

  test.each([
    { it: "the address is taken out", old: saying([ours]), now: saying([]) },
    { it: "the address is another", old: saying([ours]), now: saying([theirs]) },
    { it: "an address is put beside it", old: saying([ours]), now: saying([ours, theirs]) },
    { it: "a wrong one becomes another wrong one", old: saying([theirs]), now: saying([]) },
    {
      it: "the condition is taken out",
      old: saying([ours], { status: { conditions: [condition] } }),
      now: saying([ours]),
    },
  ])("is true when $it", ({ old, now }) => {
    expect(losesStatus(old, now, published)).toBe(true);
  });

  test.each([
    { it: "the address is published", old: saying([]), now: saying([ours]), published },
    {
      it: "it changes in something else",
      old: saying([]),
      now: saying([], { metadata: { labels: { a: "" } } }),
      published,
    },
    { it: "nothing is known to be served there", old: saying([ours]), now: saying([]), published: undefined },
    {
      it: "it wants no load balancer",
      old: saying([ours]),
      now: saying([], { spec: { type: "ClusterIP" } }),
      published,
    },
    { it: "it is being deleted", old: saying([ours]), now: saying([], { metadata: deleting }), published },
    {
      it: "the condition says something else",
      old: saying([ours], { status: { conditions: [condition] } }),
      now: saying([ours], { status: { conditions: [{ ...condition, status: "False" }] } }),
      published,
    },
  ])("is false when $it", ({ old, now, published: given }) => {
    expect(losesStatus(old, now, given)).toBe(false);
  });
});

describe("changesTargets()", () => {
  const out = { labels: { [EXCLUDE]: "true" } };

  test.each([
    { it: "gets a provider ID", old: member({ spec: { providerID: "" } }), now: member() },
    { it: "gets another provider ID", old: member(), now: member({ spec: { providerID: "acme://b" } }) },
    { it: "is excluded", old: member(), now: member({ metadata: out }) },
    { it: "is let in again", old: member({ metadata: out }), now: member() },
    { it: "is being deleted", old: member(), now: member({ metadata: deleting }) },
    {
      it: "changes its addresses",
      old: member(),
      now: member({ status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }] } }),
    },
    { it: "changes its labels", old: member(), now: member({ metadata: { labels: { zone: "b" } } }) },
  ])("is true when a node $it", ({ old, now }) => {
    expect(changesTargets(old, now)).toBe(true);
  });

  test.each([
    { it: "heartbeats", old: member(), now: member({ metadata: { resourceVersion: "2" } }) },
    { it: "becomes unready", old: member(), now: member({ status: { conditions: [] } }) },
    { it: "is cordoned", old: member(), now: member({ spec: { unschedulable: true } }) },
    {
      it: "changes while it is no target",
      old: member({ metadata: out }),
      now: member({ metadata: { labels: { [EXCLUDE]: "" } } }),
    },
  ])("is false when a node $it", ({ old, now }) => {
    expect(changesTargets(old, now)).toBe(false);
  });
});
