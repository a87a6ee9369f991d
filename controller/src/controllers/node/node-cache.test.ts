import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { instance, node } from "../../../test/support/builders.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import {
  Differences,
  DroppedLabels,
  ProviderIds,
  RefreshSchedule,
  RepairBackoff,
  ObservedInstances,
  createNodeCache,
  forgetNode,
} from "./node-cache.ts";
import { nodeMetrics } from "./metrics.ts";

test("isDue() holds until the node was read, in each tick, the start included", async () => {
  const clock = new FakeClock();
  const schedule = new RefreshSchedule({ nodeStatusUpdateFrequency: 1000 }, clock);
  expect([schedule.isDue("a"), schedule.isDue("a")]).toEqual([true, true]);
  schedule.done("a");
  expect([schedule.isDue("a"), schedule.isDue("b")]).toEqual([false, true]);
  await clock.advance(999);
  expect(schedule.isDue("a")).toBe(false);
  await clock.advance(1);
  expect(schedule.isDue("a")).toBe(true);
});

test("isDue() holds again for a node that was forgotten", () => {
  const schedule = new RefreshSchedule({ nodeStatusUpdateFrequency: 1000 }, new FakeClock());
  schedule.done("a");
  schedule.forget("a");
  expect(schedule.isDue("a")).toBe(true);
});

test("untilNextMs() names the same moment to everybody", async () => {
  const clock = new FakeClock();
  const schedule = new RefreshSchedule({ nodeStatusUpdateFrequency: 1000 }, clock);
  expect(schedule.untilNextMs()).toBe(1000);
  await clock.advance(300);
  expect(schedule.untilNextMs()).toBe(700);
  await clock.advance(700);
  expect(schedule.untilNextMs()).toBe(1000);
});

test.each([
  { periodMs: 10_000, maxDataAgeMs: 5000 },
  { periodMs: 300_000, maxDataAgeMs: 30_000 },
])("maxDataAgeMs is $maxDataAgeMs for a period of $periodMs", ({ periodMs, maxDataAgeMs }) => {
  expect(new RefreshSchedule({ nodeStatusUpdateFrequency: periodMs }, new FakeClock()).maxDataAgeMs).toBe(maxDataAgeMs);
});

test("a period that changes makes every node due and holds from then on", async () => {
  const clock = new FakeClock();
  const options = { nodeStatusUpdateFrequency: 1000 };
  const schedule = new RefreshSchedule(options, clock);
  await clock.advance(5000);
  schedule.done("a");
  options.nodeStatusUpdateFrequency = 2000;
  expect([schedule.isDue("a"), schedule.untilNextMs(), schedule.maxDataAgeMs]).toEqual([true, 1000, 1000]);
});

describe("cache", () => {
  const NOT_QUERIED = { kind: "notQueried" } as const;
  const withId = (providerID: string, uid = "u") => node("a", { metadata: { uid }, spec: { providerID } });

  describe("ObservedInstances", () => {
    const data = instance({ providerId: "acme://1", labels: { rack: "r" } });

    test("get() returns only the fields that Nodes need", () => {
      const observedInstances = new ObservedInstances();
      observedInstances.put(withId("acme://1"), { instance: data, byName: NOT_QUERIED });
      expect(observedInstances.get(withId("acme://1"))).toEqual({
        instance: {
          providerId: "acme://1",
          name: "node-a",
          instanceType: undefined,
          zone: undefined,
          region: undefined,
          addresses: [],
          labels: { rack: "r" },
        },
        byName: NOT_QUERIED,
      });
    });

    test.each([
      { it: "the same ID", now: withId("acme://1"), isKnown: true },
      { it: "the ID that the cloud gave", asked: "", now: withId("acme://1"), isKnown: true },
      { it: "still none", asked: "", now: withId(""), isKnown: true },
      {
        it: "the ID asked for, whatever the cloud calls it",
        asked: "acme://x",
        now: withId("acme://x"),
        isKnown: true,
      },
      { it: "another ID", now: withId("acme://2"), isKnown: false },
      { it: "a node recreated", now: withId("acme://1", "other"), isKnown: false },
    ])("know the machine of a Node with $it: $isKnown", ({ asked = "acme://1", now, isKnown }) => {
      const observedInstances = new ObservedInstances();
      observedInstances.put(withId(asked), { instance: data, byName: NOT_QUERIED });
      expect([observedInstances.get(now) !== undefined, observedInstances.isOutdated(now)]).toEqual([
        isKnown,
        !isKnown,
      ]);
    });

    test("know of an absence only of the machine that was asked for", () => {
      const observedInstances = new ObservedInstances();
      observedInstances.put(withId(""), { instance: undefined, byName: NOT_QUERIED });
      expect(observedInstances.get(withId(""))).toEqual({ instance: undefined, byName: NOT_QUERIED });
      expect(observedInstances.isOutdated(withId("acme://1"))).toBe(true);
    });

    test("know nothing of a Node that was never seen or is forgotten", () => {
      const observedInstances = new ObservedInstances();
      expect([observedInstances.get(withId("")), observedInstances.isOutdated(withId(""))]).toEqual([undefined, false]);
      observedInstances.put(withId(""), { instance: data, byName: NOT_QUERIED });
      observedInstances.forget("a");
      expect([observedInstances.get(withId("")), observedInstances.isOutdated(withId("x"))]).toEqual([
        undefined,
        false,
      ]);
    });
  });

  describe("ProviderIds", () => {
    test("duplicates() are the others with the same ID", () => {
      const ids = new ProviderIds();
      for (const name of ["c", "b", "a"]) ids.note(name, "acme://1");
      ids.note("d", "acme://2");
      expect([ids.duplicates("b"), ids.duplicates("d"), ids.duplicates("unknown")]).toEqual([["a", "c"], [], []]);
    });

    test("duplicates() are those on one instance, however the ID is written (case N-2)", () => {
      const ids = new ProviderIds();
      ids.note("a", "acme:///zone/AB");
      ids.note("b", "acme:///ab");
      ids.note("c", "beta:///ab");
      expect(["a", "b", "c"].map((name) => ids.duplicates(name))).toEqual([["b"], ["a"], []]);
    });

    test("duplicates() follow a change of the ID, and none is no ID", () => {
      const ids = new ProviderIds();
      ids.note("a", "");
      ids.note("b", "");
      expect(ids.duplicates("a")).toEqual([]);
      ids.note("a", "acme://1");
      ids.note("b", "acme://1");
      expect(ids.duplicates("a")).toEqual(["b"]);
      ids.note("b", "acme://2");
      expect(ids.duplicates("a")).toEqual([]);
      ids.note("b", "acme://1");
      ids.forget("b");
      ids.forget("b");
      expect(ids.duplicates("a")).toEqual([]);
    });
  });

  test("RepairBackoff lets half a minute pass between two repairs of a Node", async () => {
    const clock = new FakeClock();
    const pace = new RepairBackoff(clock);
    expect(pace.waitMs("a")).toBe(0);
    pace.done("a");
    await clock.advance(10_000);
    expect([pace.waitMs("a"), pace.waitMs("b")]).toEqual([20_000, 0]);
    await clock.advance(30_000);
    expect(pace.waitMs("a")).toBe(0);
    pace.done("a");
    pace.forget("a");
    expect(pace.waitMs("a")).toBe(0);
  });

  test("DroppedLabels are news once for each key and reason", () => {
    const dropped = new DroppedLabels();
    const reserved = { key: "k8s.io/x", value: "1", reason: "reserved" } as const;
    const invalid = { key: "x", value: "a b", reason: "invalid" } as const;
    expect(dropped.unreported([reserved, { ...reserved, value: "2" }])).toEqual([reserved]);
    expect(dropped.unreported([reserved, invalid])).toEqual([invalid]);
    expect(dropped.unreported([{ ...invalid, reason: "reserved" }])).toHaveLength(1);
  });

  test("forgetNode() leaves nothing of a Node", async () => {
    const metrics = new Metrics();
    const cache = createNodeCache({ nodeStatusUpdateFrequency: 1000 }, nodeMetrics(metrics), new FakeClock());
    const subject = withId("acme://1");
    const written = node("a", { metadata: { uid: "u", resourceVersion: "2" } });
    cache.refreshes.done("a");
    cache.observedInstances.put(subject, { instance: undefined, byName: NOT_QUERIED });
    cache.providerIds.note("a", "acme://1");
    cache.waiting.add("a", { reason: "absent", topic: "", reportAfterMs: 0 });
    cache.differences.replace("a", [{ field: "zone", message: "" }]);
    cache.repairs.done("a");
    cache.ownWrites.note(subject, written);
    forgetNode(cache, "a");
    expect([
      cache.refreshes.isDue("a"),
      cache.observedInstances.get(subject),
      cache.repairs.waitMs("a"),
      cache.ownWrites.latest(subject),
      await metrics.value("cloudwire_nodes_uninitialized", { reason: "absent" }),
      await metrics.value("cloudwire_node_differences", { field: "zone" }),
    ]).toEqual([true, undefined, 0, subject, 0, 0]);
    cache.providerIds.note("b", "acme://1");
    expect(cache.providerIds.duplicates("b")).toEqual([]);
  });
});

describe("provider ids", () => {
  const names = ["a", "b", "c"] as const;
  const step = fc.record({
    name: fc.constantFrom(...names),
    id: fc.constantFrom(undefined, "", "acme://1", "acme://2"),
  });

  describe("ProviderIds", () => {
    test("duplicates() names the others with the same ID, whatever was noted and forgotten before", () => {
      fc.assert(
        fc.property(fc.array(step, { size: "max", maxLength: 30 }), (steps) => {
          const ids = new ProviderIds();
          const model = new Map<string, string>();
          for (const { name, id } of steps) {
            if (id === undefined) ids.forget(name);
            else ids.note(name, id);
            model.set(name, id ?? "");
            const duplicates = (of: string) =>
              names.filter(
                (other) => other !== of && (model.get(of) ?? "") !== "" && model.get(other) === model.get(of),
              );
            expect(names.map((of) => ids.duplicates(of))).toEqual(names.map(duplicates));
          }
        }),
      );
    });
  });
});

describe("differences", () => {
  const ZONE = { field: "zone", message: "z" } as const;
  const REGION = { field: "region", message: "r" } as const;

  function setUp() {
    const metrics = new Metrics();
    const differences = new Differences(nodeMetrics(metrics).differences);
    const counted = (field: string) => metrics.value("cloudwire_node_differences", { field });
    return { differences, counted };
  }

  test("replace() answers what is new, once", () => {
    const { differences } = setUp();
    expect(differences.replace("a", [ZONE])).toEqual([ZONE]);
    expect(differences.replace("a", [ZONE, REGION])).toEqual([REGION]);
    expect(differences.replace("b", [ZONE])).toEqual([ZONE]);
    expect(differences.replace("a", [{ ...ZONE, message: "z2" }])).toEqual([{ ...ZONE, message: "z2" }]);
  });

  test("replace() answers again what has come back", () => {
    const { differences } = setUp();
    differences.replace("a", [ZONE]);
    expect(differences.replace("a", [])).toEqual([]);
    expect(differences.replace("a", [ZONE])).toEqual([ZONE]);
  });

  test("the metric counts nodes by field, each once a field", async () => {
    const { differences, counted } = setUp();
    expect(await counted("labels")).toBeUndefined();
    differences.replace("a", [
      { field: "labels", message: "1" },
      { field: "labels", message: "2" },
      { field: "zone", message: "3" },
    ]);
    differences.replace("b", [ZONE]);
    expect([await counted("labels"), await counted("zone")]).toEqual([1, 2]);
    differences.replace("a", [{ field: "labels", message: "2" }]);
    expect([await counted("labels"), await counted("zone")]).toEqual([1, 1]);
    differences.forget("a");
    differences.forget("b");
    differences.forget("b");
    expect([await counted("labels"), await counted("zone")]).toEqual([0, 0]);
  });
});
