import { describe, expect, test } from "vitest";
import { service } from "../../../test/support/builders.ts";
import { LoadBalancerCloud } from "../../../test/support/service/load-balancer-cloud.ts";
import { PERIOD_MS, ServiceHarness } from "../../../test/support/service/service-harness.ts";

const UID = "uid-default-web";

/** When another client changes the load balancer, while this controller does not look. */
const MOMENTS = ["before a restart", "before an update of the nodes", "before both"] as const;

const PROVIDERS = [
  { offers: "a list, checks and the fingerprint of before an update", parts: {}, reportsPrevious: true },
  { offers: "a list and checks", parts: {}, reportsPrevious: false },
  { offers: "checks", parts: { list: undefined }, reportsPrevious: false },
  { offers: "a list", parts: { validateOnly: false }, reportsPrevious: true },
  { offers: "neither", parts: { validateOnly: false, list: undefined }, reportsPrevious: false },
  { offers: "checks, but no updates of nodes alone", parts: { updateNodes: false }, reportsPrevious: false },
];

const CASES = MOMENTS.flatMap((moment) => PROVIDERS.map((provider) => ({ moment, ...provider })));

describe("a load balancer that another client changes", () => {
  test.each(CASES)(
    "$moment, of a provider that offers $offers, is repaired within a period (case S-12)",
    async ({ moment, parts, reportsPrevious }) => {
      const cloud = new LoadBalancerCloud("acme", parts);
      cloud.reportsPrevious = reportsPrevious;
      await using world = new ServiceHarness();
      world.node("first");
      world.store.put(service("web"));
      await world.start([cloud.provider()]);
      await world.pass(5000);
      await world.stop();
      const kept = cloud.kept.get(UID);
      if (moment === "before an update of the nodes") await world.start([cloud.provider()]);
      await world.pass(moment === "before an update of the nodes" ? PERIOD_MS * 2 : 0);
      Object.assign(kept ?? {}, { version: 100, isTampered: true });
      if (moment !== "before a restart") world.node("second");
      if (moment !== "before an update of the nodes") await world.start([cloud.provider()]);
      await world.pass(PERIOD_MS * 1.2);
      expect(cloud.kept.get(UID)).toMatchObject({ isTampered: false });
      const changes = cloud.changes.length;
      await world.pass(PERIOD_MS * 3);
      expect(cloud.changes.slice(changes)).toEqual([]);
    },
  );

  test("is checked with its lock key: without one, the check would run alone and delay all changes (case S-12)", async () => {
    const cloud = new LoadBalancerCloud();
    cloud.lockKey = "shared-1";
    await using world = new ServiceHarness();
    world.store.put(service("web"));
    await world.start([cloud.provider()]);
    await world.pass(5000);
    await world.stop();
    await world.start([cloud.provider()]);
    await world.pass(10_000);
    expect(cloud.checkedLocks).toEqual(["shared-1"]);
  });

  test("while the process is away is reported, and repaired soon after its start (case S-12)", async () => {
    const cloud = new LoadBalancerCloud();
    await using world = new ServiceHarness();
    world.store.put(service("web"));
    await world.start([cloud.provider()]);
    await world.pass(5000);
    await world.stop();
    Object.assign(cloud.kept.get(UID) ?? {}, { isTampered: true });
    world.events.length = 0;
    await world.start([cloud.provider()]);
    await world.pass(10_000);
    expect(cloud.calls.filter((call) => call.startsWith("check"))).toEqual([`check ${UID}`]);
    expect(cloud.kept.get(UID)).toMatchObject({ isTampered: false });
    expect(world.reported[0]).toBe(
      "LoadBalancerDrifted: Repairing the load balancer: load balancer acme-1 was changed in the cloud, and does not match the spec: update rules of it, and 1 more",
    );
  });
});

describe("the checks of load balancers", () => {
  test("are one for each after a start, without a change, an event or a write (case S-12)", async () => {
    const cloud = new LoadBalancerCloud();
    await using world = new ServiceHarness();
    const names = Array.from({ length: 30 }, (_, index) => `web-${index}`);
    for (const name of names) world.store.put(service(name));
    await world.start([cloud.provider()]);
    await world.pass(60_000);
    const [events, writes, calls] = [world.events.length, world.store.writes.length, cloud.calls.length];
    await world.restart();
    await world.pass(10 * PERIOD_MS);
    const later = cloud.calls.slice(calls).filter((call) => call !== "list");
    expect(later.toSorted()).toEqual(names.map((name) => `check uid-default-${name}`).toSorted());
    expect([world.events.length, world.store.writes.length]).toEqual([events, writes]);
  });

  test("are spread over time, and not needed after an update of the nodes whose response has the fingerprint of before (case S-12)", async () => {
    const cloud = new LoadBalancerCloud();
    await using world = new ServiceHarness();
    for (let index = 0; index < 100; index += 1) world.store.put(service(`web-${index}`));
    await world.start([cloud.provider()]);
    await world.pass(60_000);
    await world.restart();
    await world.pass(10_000);
    const soon = cloud.calls.filter((call) => call.startsWith("check")).length;
    expect(soon).toBe(44);
    await world.pass(PERIOD_MS);
    world.node("first");
    const calls = cloud.calls.length;
    await world.pass(2 * PERIOD_MS);
    const later = cloud.calls.slice(calls);
    expect(later.filter((call) => call.startsWith("check"))).toEqual([]);
    expect(later.filter((call) => call.startsWith("update"))).toHaveLength(100);
  });
});
