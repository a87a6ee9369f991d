import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock } from "../../test/support/fake-clock.ts";
import { FakeLog } from "../../test/support/fake-log.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { type PlannedWrite, Plans, digestOf, actionOf, summaryOf } from "./plans.ts";

const patched = (before: unknown, after: unknown): PlannedWrite => ({
  target: "kubernetes",
  verb: "patch",
  resource: "nodes",
  object: "a",
  fields: [{ path: "metadata.labels.b", before, after }],
});

const called: PlannedWrite = {
  target: "provider",
  provider: "acme",
  method: "EnsureLoadBalancer",
  trigger: "service changed",
  changes: ["update load balancer lb-1"],
  isChecked: true,
};

const deleted: PlannedWrite = { target: "kubernetes", verb: "delete", resource: "nodes", object: "a", fields: [] };

describe("effectOf() and summaryOf()", () => {
  test.each([
    ["create", patched(undefined, "1"), "patch nodes a: metadata.labels.b"],
    ["update", patched("1", "2"), "patch nodes a: metadata.labels.b"],
    ["delete", patched("1", undefined), "patch nodes a: metadata.labels.b"],
    ["delete", deleted, "delete nodes a"],
    ["update", called, "acme EnsureLoadBalancer (service changed): update load balancer lb-1"],
    [
      "update",
      { ...called, changes: [], isChecked: false, trigger: "" },
      "acme EnsureLoadBalancer: the provider cannot predict the changes",
    ],
  ] as const)("report %s of %j", (effect, write, summary) => {
    expect([actionOf(write), summaryOf(write)]).toEqual([effect, summary]);
  });
});

describe("digestOf()", () => {
  test("is the same whatever the times in it", () => {
    const at = (lastTransitionTime: string) => [patched(undefined, { status: "True", lastTransitionTime })];
    expect(digestOf(at("now"))).toBe(digestOf(at("then")));
    expect(digestOf([patched("1", "2")])).not.toBe(digestOf([patched("1", "3")]));
  });
});

describe("Plans", () => {
  let clock: FakeClock;
  let log: FakeLog;
  let metrics: Metrics;
  let plans: Plans;
  const key = { controller: "service-lb-controller", key: "shop/web", provider: "acme" };

  beforeEach(() => {
    clock = new FakeClock();
    log = new FakeLog();
    metrics = new Metrics();
    plans = new Plans({ clock, log, metrics });
  });

  test("say a plan once, another again, and that nothing is left", () => {
    for (const writes of [[], [called], [called], [patched("1", "2")], [], []]) plans.settle({ ...key, writes });
    expect(log.lines.map(({ message }) => message)).toEqual([
      "Pending writes in observe mode",
      "Pending writes in observe mode",
      "No pending writes in observe mode",
    ]);
  });

  test("remember since when a plan is the same", async () => {
    const sinceMs = clock.nowMs();
    plans.settle({ ...key, writes: [called] });
    await clock.advance(60_000);
    plans.settle({ ...key, writes: [called] });
    expect(plans.all.map((plan) => plan.sinceMs)).toEqual([sinceMs]);
    plans.settle({ ...key, writes: [deleted] });
    expect(plans.all.map((plan) => plan.sinceMs)).toEqual([sinceMs + 60_000]);
  });

  test("keep the plan when the next reconcile fails, and report the failure", () => {
    plans.settle({ ...key, writes: [called] });
    plans.failed(key);
    expect([plans.all.length, plans.failedKeys]).toEqual([1, [key]]);
    plans.settle({ ...key, writes: [] });
    expect([plans.all.length, plans.failedKeys]).toEqual([0, []]);
  });

  test("count writes by action, and keys that failed", async () => {
    plans.settle({ ...key, writes: [patched(undefined, "1"), called] });
    plans.failed({ ...key, key: "shop/other" });
    const { controller, provider } = key;
    const pending = (action: string) => metrics.value("cloudwire_pending_writes", { controller, provider, action });
    expect([await pending("create"), await pending("update"), await pending("delete")]).toEqual([1, 1, 0]);
    expect(await metrics.value("cloudwire_plan_failed_keys", { controller, provider })).toBe(1);
    plans.settle({ ...key, writes: [] });
    expect(await pending("update")).toBeUndefined();
  });
});
