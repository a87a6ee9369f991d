import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { info } from "../../../test/support/provider/provider-builders.ts";
import { routesInfo } from "../../../test/support/route/route-cloud.ts";
import { MINUTE_MS, PERIOD_MS, ROUTED, RouteHarness, UNROUTED } from "../../../test/support/route/route-harness.ts";
import { contractError } from "../../provider/model/errors.ts";

const A = "10.120.1.0/24";
const B = "10.120.2.0/24";
const C = "10.120.3.0/24";

let world: RouteHarness;
beforeEach(() => {
  world = new RouteHarness();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("nodeRouteController()", () => {
  test("makes the routes of many nodes in one call, after one list, and says so on each", async () => {
    world.node("a", { podCIDRs: [A, "fd00:0:0:1::/64"] });
    world.node("b", { podCIDRs: [B] });
    await world.start();
    // In which order does not matter.
    expect(world.cloud.calls.map((call) => call.split(" ").toSorted())).toEqual([
      ["list"],
      [A, B, "ensure", "fd00:0:0:1::/64"],
    ]);
    expect(world.cloud.table).toEqual([`${A} acme://a`, `${B} acme://b`, "fd00:0:0:1::/64 acme://a"]);
    expect([world.condition("a"), world.condition("b")]).toEqual([ROUTED, ROUTED]);
    expect(world.kube.writes).toHaveLength(2);
    expect(world.eventTexts).toEqual([]);
  });

  test("follows nodes that come, change and go without another list", async () => {
    await world.start();
    world.node("a", { podCIDRs: [A] });
    await world.pass(1000);
    world.node("a", { podCIDRs: [B] });
    await world.pass(1000);
    expect(world.cloud.table).toEqual([`${B} acme://a`]);
    world.remove("a");
    await world.pass(1000);
    expect(world.cloud.calls).toEqual(["list", `ensure ${A}`, `delete ${A}`, `ensure ${B}`, `delete ${B}`]);
    expect(world.cloud.table).toEqual([]);
  });

  test("changes nothing after a restart, and lists once a period", async () => {
    world.node("a", { podCIDRs: [A] });
    world.cloud.seed(A, "acme://a");
    await world.start();
    await world.pass(3 * PERIOD_MS);
    expect(world.cloud.calls).toEqual(["list", "list", "list", "list"]);
    expect(await world.syncs()).toEqual({ "periodic noop": 5 });
  });

  test("counts what changes of Nodes and passes did, as upstream (case V-3)", async () => {
    await world.start();
    expect(await world.syncs()).toEqual({ "periodic noop": 1 });
    world.node("a", { podCIDRs: [A] });
    await world.pass(1000);
    expect(await world.syncs()).toEqual({ "periodic noop": 1, "node_change changed": 1 });
    world.cloud.fail = (call) => (call === "ensure" ? contractError("CIDR_CONFLICT", "no") : undefined);
    world.node("b", { podCIDRs: [B] });
    await world.pass(1000);
    expect(await world.syncs()).toMatchObject({ "node_change changed": 1, "node_change error": 1 });
  });

  test("counts as periodic what a pass corrects (case V-3)", async () => {
    world.node("a", { podCIDRs: [A] });
    world.cloud.seed(A, "acme://a");
    await world.start();
    world.cloud.routes.clear();
    await world.pass(PERIOD_MS);
    expect(world.cloud.table).toEqual([`${A} acme://a`]);
    expect(await world.syncs()).toEqual({ "periodic noop": 3, "periodic changed": 1 });
    world.cloud.fail = (call) => (call === "list" ? contractError("CLOUD_UNAVAILABLE", "no") : undefined);
    await world.pass(PERIOD_MS);
    expect((await world.syncs())["periodic error"]).toBeGreaterThan(0);
  });

  test("lists as often as a period says that was changed while it runs", async () => {
    world.node("a", { podCIDRs: [A] });
    world.cloud.seed(A, "acme://a");
    await world.start();
    world.options.routeReconciliationPeriod = 2 * PERIOD_MS;
    await world.pass(PERIOD_MS);
    expect(world.cloud.calls).toEqual(["list", "list"]);
    await world.pass(PERIOD_MS);
    expect(world.cloud.calls).toHaveLength(2);
    await world.pass(PERIOD_MS);
    expect(world.cloud.calls).toHaveLength(3);
  });

  test("removes at the start what is of no node, and nothing else", async () => {
    world.node("a", { podCIDRs: [A] });
    world.node("foreign", { providerID: "other://f", podCIDRs: [C] });
    world.cloud.seed(A, "acme://a");
    world.cloud.seed(B, "acme://gone");
    world.cloud.seed(C, "acme://f", { targetNodeName: "foreign" });
    world.cloud.seed("10.121.0.0/24", "acme://gone");
    world.cloud.seed("10.0.0.0/8", "acme://gone");
    world.cloud.seed("10.120.0.0/15", "acme://gone");
    await world.start();
    expect(world.cloud.changes).toEqual([`delete ${B}`]);
    expect(world.condition("foreign")).toBeUndefined();
  });

  test("finds the node of a route that carries no name", async () => {
    world.node("a", { podCIDRs: [A] });
    world.cloud.seed(A, "acme://a", { targetNodeName: "" });
    await world.start();
    expect(world.cloud.changes).toEqual([]);
    world.remove("a");
    await world.pass(1000);
    expect(world.cloud.table).toEqual([]);
  });

  test("replaces a blackhole: away first, then again", async () => {
    world.node("a", { podCIDRs: [A] });
    world.cloud.seed(A, "acme://a", { blackhole: true });
    await world.start();
    expect(world.cloud.changes).toEqual([`delete ${A}`, `ensure ${A}`]);
    expect(world.cloud.table).toEqual([`${A} acme://a`]);
    expect(world.condition("a")).toBe(ROUTED);
  });

  test("gives a range that passes from one node to another to the new one", async () => {
    world.node("a", { podCIDRs: [A] });
    await world.start();
    world.remove("a");
    world.node("b", { podCIDRs: [A] });
    await world.pass(1000);
    expect(world.cloud.table).toEqual([`${A} acme://b`]);
    expect(world.condition("b")).toBe(ROUTED);
  });

  test("does not take a range that a live node has given up for one that it has", async () => {
    world.node("a", { podCIDRs: [A] });
    world.node("b", { podCIDRs: [C] });
    await world.start();
    world.node("a", { podCIDRs: [B] });
    world.node("b", { podCIDRs: [A] });
    await world.pass(1000);
    expect(world.cloud.table).toEqual([`${A} acme://b`, `${B} acme://a`]);
    expect(world.eventTexts).toEqual([]);
  });

  test("lets the provider correct a node's own route to another machine", async () => {
    world.node("a", { podCIDRs: [A] });
    world.node("b", { podCIDRs: [B] });
    world.cloud.seed(A, "acme://b", { targetNodeName: "a" });
    world.cloud.seed(B, "acme://b");
    await world.start();
    expect(world.cloud.changes).toEqual([`ensure ${A}`]);
    expect(world.cloud.table).toEqual([`${A} acme://a`, `${B} acme://b`]);
  });

  test("uses a young list again when a provider comes back, and an old one not", async () => {
    await world.start();
    world.ready();
    await world.pass(30_000);
    expect(world.cloud.calls).toEqual(["list"]);
    await world.pass(MINUTE_MS);
    world.ready();
    await world.pass(1000);
    expect(world.cloud.calls).toEqual(["list", "list"]);
  });

  test("forgets what it knew of another account's routes", async () => {
    world.node("a", { podCIDRs: [A] });
    await world.start();
    world.declared = { ...routesInfo(), scopeId: "project-2" };
    world.cloud.routes.clear();
    world.remove("a");
    world.ready();
    await world.pass(1000);
    expect(world.cloud.calls).toEqual(["list", `ensure ${A}`, "list"]);
  });

  test("lists no oftener than the provider allows", async () => {
    const declared = routesInfo();
    world.declared = { ...declared, limits: { ...declared.limits, minResyncIntervalMs: 3 * PERIOD_MS } };
    await world.start();
    await world.pass(6 * PERIOD_MS);
    expect(world.cloud.calls).toEqual(["list", "list", "list"]);
  });

  test("leaves the route with the first of two nodes that have one range, and gives it to the second when that goes", async () => {
    world.node("a", { podCIDRs: [A] });
    await world.start();
    world.node("b", { podCIDRs: [A] });
    await world.pass(10 * MINUTE_MS);
    expect(world.cloud.table).toEqual([`${A} acme://a`]);
    expect(world.condition("b")).toBe(UNROUTED);
    const [first] = world.eventTexts;
    expect(first).toBe(
      `Warning FailedToCreateRoute Could not create route uid-b ${A} for node b: node a has the same pod CIDR (retrying within 5 minutes). To fix: delete the Node and let it register again with a pod CIDR of its own`,
    );
    expect(new Set(world.eventTexts).size).toBe(1);
    world.remove("a");
    await world.pass(1000);
    expect(world.cloud.table).toEqual([`${A} acme://b`]);
  });

  test("removes nothing on the word of an incomplete list, and looks again soon", async () => {
    world.node("a", { podCIDRs: [A] });
    world.cloud.seed(B, "acme://gone");
    world.cloud.complete = false;
    await world.start();
    expect(world.cloud.calls).toEqual(["list", `ensure ${A}`]);
    world.cloud.complete = true;
    await world.pass(MINUTE_MS);
    expect(world.cloud.table).toEqual([`${A} acme://a`]);
  });

  test("removes no orphan while it does not hear of nodes", async () => {
    world.cloud.seed(B, "acme://b");
    world.nodes.lastFailure = () => "the watch is broken";
    await world.start();
    await world.pass(MINUTE_MS);
    expect(world.cloud.changes).toEqual([]);
    world.nodes.lastFailure = () => undefined;
    await world.pass(2 * MINUTE_MS);
    expect(world.cloud.changes).toEqual([`delete ${B}`]);
  });

  test("asks again, when the provider requests, for what is still being worked on", async () => {
    await world.start();
    world.cloud.pendingTimes = 2;
    world.node("a", { podCIDRs: [A] });
    await world.pass(5000);
    expect([world.cloud.changes.length, world.condition("a")]).toEqual([2, undefined]);
    await world.pass(3000);
    expect([world.cloud.changes.length, world.condition("a")]).toEqual([3, ROUTED]);
    expect(world.eventTexts).toEqual([]);
  });

  test("does nothing before the first list has come, and tries that again", async () => {
    world.node("a", { podCIDRs: [A] });
    world.cloud.fail = () => contractError("CLOUD_UNAVAILABLE", "the cloud is away");
    await world.start();
    await world.pass(10_000);
    expect(world.cloud.changes).toEqual([]);
    world.cloud.fail = () => undefined;
    await world.pass(MINUTE_MS);
    expect(world.cloud.table).toEqual([`${A} acme://a`]);
  });

  test("keeps what it changed while a list was under way", async () => {
    world.node("a", { podCIDRs: [A] });
    await world.start();
    const { promise, resolve } = Promise.withResolvers<void>();
    world.cloud.beforeCall = (call) => (call === "list" ? promise : Promise.resolve());
    await world.pass(PERIOD_MS);
    world.node("b", { podCIDRs: [B] });
    world.remove("a");
    await world.pass(1000);
    resolve();
    await world.pass(1000);
    expect(world.cloud.calls.slice(2)).toEqual(["list", `delete ${A}`, `ensure ${B}`]);
    expect(world.cloud.table).toEqual([`${B} acme://b`]);
  });
});

describe("a provider without routes", () => {
  test("keeps the controller from running, and that is said once", async () => {
    world.declared = info();
    world.node("a", { podCIDRs: [A] });
    await world.start();
    world.ready();
    await world.pass(PERIOD_MS);
    expect(world.running).toBeUndefined();
    expect(world.cloud.calls).toEqual([]);
    expect(world.kube.writes).toEqual([]);
    expect(world.log.messages("info")).toEqual(["Routes are not managed: the provider does not support them"]);
  });

  test("lets it run once a new version serves them", async () => {
    world.declared = undefined;
    world.node("a", { podCIDRs: [A] });
    await world.start();
    expect(world.running).toBeUndefined();
    world.declared = routesInfo();
    world.ready();
    await world.pass(1000);
    expect(world.running).toBe(true);
    expect(world.cloud.table).toEqual([`${A} acme://a`]);
  });
});
