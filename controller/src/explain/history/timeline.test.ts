import { describe, expect, test } from "vitest";
import { CREATED_MS, ingress, node, service, taint } from "../../../test/support/builders.ts";
import { failedWith, remembered } from "../../../test/support/explain/explain-builders.ts";
import { EVENT_SOURCES } from "../../api/controller-names.ts";
import { LOAD_BALANCER_READY } from "../../api/load-balancer-condition.ts";
import { type Node, nodeReference } from "../../api/node.ts";
import { type Service, serviceReference } from "../../api/service.ts";
import { UNINITIALIZED } from "../../api/well-known.ts";
import type { ReconcileRecord } from "../../runtime/history.ts";
import {
  type NewEntry,
  Timeline,
  eventEntry,
  nodeEntries,
  reconcileEntry,
  routeEntries,
  serviceEntries,
} from "./timeline.ts";

const event = { type: "Warning", reason: "Why", message: "so it is" } as const;

test.each([
  { component: EVENT_SOURCES.cloudNode, regarding: nodeReference(node("w1")), object: "node/w1" },
  { component: EVENT_SOURCES.route, regarding: nodeReference(node("w1")), object: "route/w1" },
  { component: EVENT_SOURCES.service, regarding: serviceReference(service("web")), object: "service/default/web" },
])("eventEntry() is of $object when $component says it", ({ component, regarding, object }) => {
  expect(eventEntry(component, { regarding, ...event })).toEqual({
    object,
    entry: { kind: "event", source: component, reason: "Why", message: "so it is", isWarning: true },
  });
});

test("eventEntry() and reconcileEntry() cut long messages", () => {
  const regarding = nodeReference(node("w1"));
  const long = "x".repeat(100_000);
  const heldUp = remembered({
    kind: "requeue_after",
    delayMs: 1,
    why: { reason: "tooManyNodeDeletions", message: long },
  });
  const entries = [
    eventEntry("cloud-node-controller", { regarding, ...event, message: long })?.entry,
    reconcileEntry("cloud-node-controller", heldUp, undefined),
  ];
  const beginning = `${"x".repeat(500)} …`;
  expect(entries.map((entry) => entry?.message)).toEqual([beginning, beginning]);
});

test("eventEntry() is of nothing when a Lease is meant", () => {
  const regarding = { apiVersion: "v1", kind: "Lease", namespace: "kube-system", name: "ccm", uid: "" };
  expect(eventEntry("x", { regarding, ...event })).toBeUndefined();
});

describe("reconcileEntry()", () => {
  const well = remembered({ kind: "success" });
  const failed = failedWith(new Error("it failed"));
  const heldUp = remembered({
    kind: "requeue_after",
    delayMs: 1,
    why: { reason: "tooManyNodeDeletions", message: "too many" },
  });
  test.each<{ what: string; record: ReconcileRecord; before: ReconcileRecord | undefined; reason: string | undefined }>(
    [
      { what: "the first one that goes well", record: well, before: undefined, reason: undefined },
      { what: "one that goes well as before", record: well, before: well, reason: undefined },
      { what: "one that fails", record: failed, before: well, reason: "Failed" },
      { what: "one that is held up", record: heldUp, before: undefined, reason: "Delayed" },
      { what: "one that goes well again", record: well, before: failed, reason: "Recovered" },
      { what: "one that is no longer delayed", record: well, before: heldUp, reason: "Recovered" },
      { what: "one that was cut short", record: remembered({ kind: "planned" }), before: well, reason: undefined },
    ],
  )("says of $what: $reason", ({ record, before, reason }) => {
    expect(reconcileEntry("cloud-node-controller", record, before)?.reason).toBe(reason);
  });
});

const waiting = node("w1", { spec: { taints: [taint(UNINITIALIZED)] } });
const initialized = node("w1", { spec: { providerID: "acme://1" } });
const away = node("w1", {
  spec: { providerID: "acme://1" },
  status: { conditions: [{ type: "Ready", status: "Unknown", lastTransitionTimeMs: 1, reason: "NodeStatusUnknown" }] },
});

test.each<{ what: string; old: Node; now: Node; expected: readonly string[] }>([
  { what: "nothing changes", old: waiting, now: { ...waiting }, expected: [] },
  { what: "it is initialized", old: waiting, now: initialized, expected: ["ProviderIdSet", "Initialized"] },
  { what: "it gets the taint again", old: node("w1"), now: waiting, expected: ["Uninitialized"] },
  { what: "its kubelet is silent", old: initialized, now: away, expected: ["NodeStatusUnknown"] },
  {
    what: "it is to go",
    old: initialized,
    now: node("w1", { metadata: { deletionTimestampMs: CREATED_MS }, spec: { providerID: "acme://1" } }),
    expected: ["Deleting"],
  },
  {
    what: "it is another one",
    old: initialized,
    now: node("w1", { metadata: { uid: "other" } }),
    expected: ["Recreated"],
  },
])("nodeEntries() when $what: $expected", ({ old, now, expected }) => {
  expect(nodeEntries(old, now).map(({ reason }) => reason)).toEqual(expected);
});

test("routeEntries() reports pod CIDRs and the condition", () => {
  const unrouted = { type: "NetworkUnavailable", status: "True", reason: "NoRouteCreated", lastTransitionTimeMs: 1 };
  const now = node("w1", {
    spec: { podCIDRs: ["10.1.0.0/24"] },
    status: { conditions: [{ ...unrouted, type: "NetworkUnavailable" }] },
  });
  expect(routeEntries(node("w1"), now)).toEqual([
    { kind: "object", reason: "PodCIDRsSet", message: "Pod CIDRs 10.1.0.0/24.", isWarning: false },
    { kind: "condition", reason: "NoRouteCreated", message: "NetworkUnavailable is True.", isWarning: true },
  ]);
});

function withCondition(reason: string, status: string): Service {
  const common = { message: "m", observedGeneration: 0, lastTransitionTimeMs: 0 };
  return service("web", { status: { conditions: [{ type: LOAD_BALANCER_READY, status, reason, ...common }] } });
}

const addressed = service("web", { status: { loadBalancer: { ingress: [ingress({ ip: "192.0.2.1" })] } } });

test.each<{ what: string; old: Service; now: Service; expected: readonly object[] }>([
  { what: "nothing changes", old: withCondition("Ready", "True"), now: withCondition("Ready", "True"), expected: [] },
  {
    what: "it is being made",
    old: service("web"),
    now: withCondition("Provisioning", "False"),
    expected: [{ kind: "condition", reason: "Provisioning", isWarning: false }],
  },
  {
    what: "its quota is used up",
    old: withCondition("Provisioning", "False"),
    now: withCondition("QuotaExceeded", "False"),
    expected: [{ kind: "condition", reason: "QuotaExceeded", isWarning: true }],
  },
  {
    what: "it gets its address",
    old: service("web"),
    now: addressed,
    expected: [{ reason: "AddressesChanged", message: "Address 192.0.2.1." }],
  },
  {
    what: "it loses its address",
    old: addressed,
    now: service("web"),
    expected: [{ reason: "AddressesChanged", message: "No address." }],
  },
  {
    what: "it is another one",
    old: addressed,
    now: service("web", { metadata: { uid: "other" } }),
    expected: [{ reason: "Recreated" }],
  },
])("serviceEntries() when $what", ({ old, now, expected }) => {
  expect(serviceEntries(old, now)).toMatchObject(expected);
});

describe("observed timeline", () => {
  function entry(reason: string): NewEntry {
    return { kind: "event", source: "node-controller", reason, message: "why", isWarning: false };
  }

  describe("Timeline", () => {
    test("has what happened to an object, newest first", () => {
      const timeline = new Timeline();
      timeline.add("node/a", entry("One"), 1);
      timeline.add("node/b", entry("Other"), 2);
      timeline.add("node/a", entry("Two"), 3);
      expect(timeline.of("node/a")).toEqual([
        { ...entry("Two"), atMs: 3, count: 1 },
        { ...entry("One"), atMs: 1, count: 1 },
      ]);
      expect(timeline.of("node/c")).toEqual([]);
    });

    test("counts what happens again and again", () => {
      const timeline = new Timeline();
      for (const atMs of [1, 2, 3]) timeline.add("node/a", entry("One"), atMs);
      expect(timeline.of("node/a")).toEqual([{ ...entry("One"), atMs: 3, count: 3 }]);
      expect(timeline.size).toBe(1);
    });

    test("keeps the last few of an object", () => {
      const timeline = new Timeline({ perObject: 2, total: 100 });
      for (const atMs of [1, 2, 3]) timeline.add("node/a", entry(`At${atMs}`), atMs);
      expect(timeline.of("node/a").map(({ atMs }) => atMs)).toEqual([3, 2]);
      expect(timeline.size).toBe(2);
    });

    test("forgets whole objects, those first to which nothing has happened for longest", () => {
      const timeline = new Timeline({ perObject: 5, total: 3 });
      timeline.add("node/a", entry("One"), 1);
      timeline.add("node/b", entry("One"), 2);
      timeline.add("node/a", entry("Two"), 3);
      timeline.add("node/c", entry("One"), 4);
      expect([timeline.of("node/a").length, timeline.of("node/b").length, timeline.size]).toEqual([2, 0, 3]);
      timeline.add("node/c", entry("Two"), 5);
      expect([timeline.of("node/a").length, timeline.of("node/c").length, timeline.size]).toEqual([0, 2, 2]);
    });
  });
});
