import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { node as nodeOf } from "../../../test/support/builders.ts";
import { apiError } from "../../../test/support/kube/fake-kube.ts";
import { MINUTE_MS, ROUTED, RouteHarness, UNROUTED } from "../../../test/support/route/route-harness.ts";
import { NETWORK_UNAVAILABLE, type Node } from "../../api/node.ts";
import { NODES } from "../../kube/resources/node.ts";

const A = "10.120.1.0/24";

let world: RouteHarness;
beforeEach(() => {
  world = new RouteHarness();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("the condition NetworkUnavailable", () => {
  const condition = (status: string, reason: string) => ({
    type: NETWORK_UNAVAILABLE,
    status,
    reason,
    lastTransitionTimeMs: 0,
  });
  const withCondition = (status: string, reason: string): Node =>
    nodeOf("a", {
      metadata: { resourceVersion: "7" },
      spec: { providerID: "acme://a", podCIDRs: [A] },
      status: { conditions: [condition(status, reason)] },
    });

  test("is not written when it says so already", async () => {
    world.cloud.seed(A, "acme://a");
    world.nodes.set(withCondition("False", "RouteCreated"));
    await world.start();
    expect(world.kube.writes).toEqual([]);
  });

  test("is written again ten seconds after owned by another client word, not at once", async () => {
    world.cloud.seed(A, "acme://a");
    world.kube.seed(NODES, { metadata: { name: "a", uid: "uid-a" } });
    world.nodes.set(withCondition("False", "RouteCreated"));
    await world.start();
    world.nodes.set(withCondition("True", "SomethingElse"));
    await world.pass(9000);
    expect(world.kube.writes).toEqual([]);
    await world.pass(2000);
    expect(world.condition("a")).toBe(ROUTED);
    expect(world.kube.writes).toHaveLength(1);
  });

  test.each(["notFound", "conflict"] as const)("is dropped for a deleted node (%s)", async (code) => {
    world.kube.intercept = () => apiError(code);
    world.node("a", { podCIDRs: [A] });
    await world.start();
    await world.pass(MINUTE_MS);
    expect(world.kube.writes).toHaveLength(1);
    expect(world.cloud.table).toEqual([`${A} acme://a`]);
  });

  test("is not written for a node without ranges and without routes", async () => {
    world.node("a", {});
    await world.start();
    expect([world.kube.writes, world.cloud.changes]).toEqual([[], []]);
  });

  test("says that there is no route when the node has lost its ranges", async () => {
    world.cloud.seed(A, "acme://a");
    world.node("a", {});
    await world.start();
    expect(world.condition("a")).toBe(UNROUTED);
    expect(world.cloud.table).toEqual([]);
  });
});
