import { describe, expect, test } from "vitest";
import { instance, node } from "../../../test/support/builders.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { DroppedLabels } from "./dropped-labels.ts";
import { createMemory, forgetNode } from "./memory.ts";
import { nodeMetrics } from "./metrics.ts";
import { ProviderIds } from "./provider-ids.ts";
import { RepairPace } from "./repair-pace.ts";
import { Sightings } from "./sightings.ts";

const NAMESAKE = { kind: "unasked" } as const;
const withId = (providerID: string, uid = "u") => node("a", { metadata: { uid }, spec: { providerID } });

describe("Sightings", () => {
  const facts = instance({ providerId: "acme://1", labels: { rack: "r" } });

  test("get() answers what goes onto Nodes and no more", () => {
    const sightings = new Sightings();
    sightings.put(withId("acme://1"), { facts, namesake: NAMESAKE });
    expect(sightings.get(withId("acme://1"))).toEqual({
      facts: {
        providerId: "acme://1",
        name: "node-a",
        instanceType: undefined,
        zone: undefined,
        region: undefined,
        addresses: [],
        labels: { rack: "r" },
      },
      namesake: NAMESAKE,
    });
  });

  test.each([
    { it: "the same ID", now: withId("acme://1"), isKnown: true },
    { it: "the ID that the cloud gave", asked: "", now: withId("acme://1"), isKnown: true },
    { it: "still none", asked: "", now: withId(""), isKnown: true },
    { it: "the ID asked for, whatever the cloud calls it", asked: "acme://x", now: withId("acme://x"), isKnown: true },
    { it: "another ID", now: withId("acme://2"), isKnown: false },
    { it: "a node made anew", now: withId("acme://1", "other"), isKnown: false },
  ])("know the machine of a Node with $it: $isKnown", ({ asked = "acme://1", now, isKnown }) => {
    const sightings = new Sightings();
    sightings.put(withId(asked), { facts, namesake: NAMESAKE });
    expect([sightings.get(now) !== undefined, sightings.isOutdated(now)]).toEqual([isKnown, !isKnown]);
  });

  test("know of an absence only of the machine that was asked for", () => {
    const sightings = new Sightings();
    sightings.put(withId(""), { facts: undefined, namesake: NAMESAKE });
    expect(sightings.get(withId(""))).toEqual({ facts: undefined, namesake: NAMESAKE });
    expect(sightings.isOutdated(withId("acme://1"))).toBe(true);
  });

  test("know nothing of a Node that was never seen or is forgotten", () => {
    const sightings = new Sightings();
    expect([sightings.get(withId("")), sightings.isOutdated(withId(""))]).toEqual([undefined, false]);
    sightings.put(withId(""), { facts, namesake: NAMESAKE });
    sightings.forget("a");
    expect([sightings.get(withId("")), sightings.isOutdated(withId("x"))]).toEqual([undefined, false]);
  });
});

describe("ProviderIds", () => {
  test("rivals() are the others with the same ID", () => {
    const ids = new ProviderIds();
    for (const name of ["c", "b", "a"]) ids.note(name, "acme://1");
    ids.note("d", "acme://2");
    expect([ids.rivals("b"), ids.rivals("d"), ids.rivals("unknown")]).toEqual([["a", "c"], [], []]);
  });

  test("rivals() follow a change of the ID, and none is no ID", () => {
    const ids = new ProviderIds();
    ids.note("a", "");
    ids.note("b", "");
    expect(ids.rivals("a")).toEqual([]);
    ids.note("a", "acme://1");
    ids.note("b", "acme://1");
    expect(ids.rivals("a")).toEqual(["b"]);
    ids.note("b", "acme://2");
    expect(ids.rivals("a")).toEqual([]);
    ids.note("b", "acme://1");
    ids.forget("b");
    ids.forget("b");
    expect(ids.rivals("a")).toEqual([]);
  });
});

test("RepairPace lets half a minute pass between two repairs of a Node", async () => {
  const clock = new FakeClock();
  const pace = new RepairPace(clock);
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
  const reserved = { key: "k8s.io/x", value: "1", why: "reserved" } as const;
  const invalid = { key: "x", value: "a b", why: "invalid" } as const;
  expect(dropped.news([reserved, { ...reserved, value: "2" }])).toEqual([reserved]);
  expect(dropped.news([reserved, invalid])).toEqual([invalid]);
  expect(dropped.news([{ ...invalid, why: "reserved" }])).toHaveLength(1);
});

test("forgetNode() leaves nothing of a Node", async () => {
  const metrics = new Metrics();
  const memory = createMemory({ refreshPeriodMs: 1000 }, nodeMetrics(metrics), new FakeClock());
  const subject = withId("acme://1");
  const written = node("a", { metadata: { uid: "u", resourceVersion: "2" } });
  memory.refreshes.done("a");
  memory.sightings.put(subject, { facts: undefined, namesake: NAMESAKE });
  memory.providerIds.note("a", "acme://1");
  memory.waiting.add("a", { reason: "absent", topic: "", newsAfterMs: 0 });
  memory.differences.replace("a", [{ field: "zone", message: "" }]);
  memory.repairs.done("a");
  memory.ownWrites.note(subject, written);
  forgetNode(memory, "a");
  expect([
    memory.refreshes.isDue("a"),
    memory.sightings.get(subject),
    memory.repairs.waitMs("a"),
    memory.ownWrites.latest(subject),
    await metrics.value("cloudwire_nodes_uninitialized", { reason: "absent" }),
    await metrics.value("cloudwire_node_differences", { field: "zone" }),
  ]).toEqual([true, undefined, 0, subject, 0, 0]);
  memory.providerIds.note("b", "acme://1");
  expect(memory.providerIds.rivals("b")).toEqual([]);
});
