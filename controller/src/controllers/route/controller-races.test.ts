import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { apiError } from "../../../test/support/kube/fake-kube.ts";
import { PERIOD_MS, ROUTED, RouteHarness } from "../../../test/support/route/route-harness.ts";

const A = "10.120.1.0/24";
const B = "10.120.2.0/24";
const C = "10.120.3.0/24";

let world: RouteHarness;
beforeEach(() => {
  world = new RouteHarness();
});
afterEach(() => world[Symbol.asyncDispose]());

/** Holds these calls back until what is answered is called. */
function hold(held: "ensure" | "delete"): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  world.cloud.beforeCall = (call) => (call === held ? promise : Promise.resolve());
  return () => {
    world.cloud.beforeCall = () => Promise.resolve();
    resolve();
  };
}

describe("routes and what changes while calls are under way", () => {
  test.each([
    { it: "that bear its name", targetNodeName: "a" },
    { it: "in a cloud that stores no names", targetNodeName: "" },
  ])(
    "of a Node that comes back, $it, are kept, though they were to be removed as soon as another call was through",
    async ({ targetNodeName }) => {
      await world.start();
      const release = hold("ensure");
      world.node("b", { podCIDRs: [B] });
      await world.pass(1000);
      world.cloud.seed(A, "acme://a", { targetNodeName });
      await world.pass(PERIOD_MS);
      world.node("a", { podCIDRs: [A] });
      await world.pass(1000);
      expect(world.condition("a")).toBe(ROUTED);
      release();
      await world.pass(1000);
      expect(world.cloud.table).toEqual([`${A} acme://a`, `${B} acme://b`]);
      expect(world.cloud.changes).toEqual([`ensure ${B}`]);
    },
  );

  test("of a Node that comes back with another range go anyway", async () => {
    await world.start();
    const release = hold("ensure");
    world.node("b", { podCIDRs: [B] });
    await world.pass(1000);
    world.cloud.seed(A, "acme://a");
    await world.pass(PERIOD_MS);
    world.node("a", { podCIDRs: [C] });
    await world.pass(1000);
    release();
    await world.pass(1000);
    expect(world.cloud.table).toEqual([`${B} acme://b`, `${C} acme://a`]);
  });

  test.each([
    { it: "that the server has are kept by a process that has just taken over", knows: true, want: [`${A} acme://a`] },
    { it: "that the server has not go", knows: false, want: [] },
  ])("of a Node that the cache lacks and $it", async ({ knows, want }) => {
    world.cloud.seed(A, "acme://a");
    if (knows) world.unheard("a", { podCIDRs: [A] });
    await world.start();
    expect(world.cloud.table).toEqual(want);
  });

  test.each([
    { it: "that the server has are kept", knows: true, want: [`${A} acme://a`, `${B} acme://b`] },
    { it: "that the server has not go", knows: false, want: [`${A} acme://a`] },
  ])("of Nodes that the cache lacks, in a cloud that stores no names, and $it", async ({ knows, want }) => {
    world.cloud.seed(A, "acme://a", { targetNodeName: "" });
    world.cloud.seed(B, "acme://b", { targetNodeName: "" });
    world.kube.pageSize = 1;
    world.unheard("a", { podCIDRs: [A] });
    if (knows) world.unheard("b", { podCIDRs: [B] });
    await world.start();
    expect(world.cloud.table).toEqual(want);
  });

  test("of many Nodes that are gone cost few questions to the server", async () => {
    const ranges = Array.from({ length: 200 }, (_, index) => `10.120.${index}.0/24`);
    for (const [index, range] of ranges.entries()) world.cloud.seed(range, `acme://n${index}`);
    world.unheard("n7", { podCIDRs: ["10.120.7.0/24"] });
    await world.start();
    expect(world.cloud.table).toEqual(["10.120.7.0/24 acme://n7"]);
    expect(world.kube.calls.filter(({ verb }) => verb === "list")).toHaveLength(1);
  });

  test("of a Node that the cache lacks are kept while the server cannot be asked, and of what no Node can be called go", async () => {
    world.cloud.seed(A, "acme://a");
    world.cloud.seed(B, "acme://b", { targetNodeName: "No,Node=" });
    world.kube.intercept = ({ verb }) => (verb === "list" ? apiError("transient") : undefined);
    await world.start();
    expect(world.cloud.changes).toEqual([]);
    world.kube.intercept = () => undefined;
    await world.pass(PERIOD_MS);
    expect(world.cloud.table).toEqual([]);
  });

  test("get the room that came free while their Node was reported that there is none", async () => {
    world.cloud.limit = 1;
    world.node("a", { podCIDRs: [A] });
    await world.start();
    // The condition of the Node is written in between, and takes its time.
    const { promise, resolve } = Promise.withResolvers<void>();
    world.kube.intercept = ({ target }) => (target === "nodes/b/status" ? promise : undefined);
    world.node("b", { podCIDRs: [B] });
    await world.pass(1000);
    expect(world.cloud.changes).toEqual([`ensure ${A}`, `ensure ${B}`]);
    world.remove("a");
    await world.pass(1000);
    resolve();
    await world.pass(1000);
    expect(world.cloud.table).toEqual([`${B} acme://b`]);
    expect(world.condition("b")).toBe(ROUTED);
  });
});
