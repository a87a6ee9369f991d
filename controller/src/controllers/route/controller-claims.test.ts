import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { routesInfo } from "../../../test/support/route/route-cloud.ts";
import { PERIOD_MS, ROUTED, RouteHarness, UNROUTED } from "../../../test/support/route/route-harness.ts";
import { routeFromProto, routeToProto } from "../../provider/convert/route.ts";

const A = "10.120.1.0/24";
const B = "10.120.2.0/24";

let world: RouteHarness;
beforeEach(() => {
  world = new RouteHarness();
});
afterEach(() => world[Symbol.asyncDispose]());

async function settle(): Promise<void> {
  await world.pass(2 * PERIOD_MS);
}

describe("a route to the machine of a live node, whose ID the provider writes differently", () => {
  test.each([
    { node: "acme://Region/0A1B", listed: "acme:///0a1b" },
    { node: "acme:///zone/i-1", listed: "acme:///i-1" },
    { node: "acme:///i-1", listed: "acme:///zone/i-1" },
    { node: "acme://AB", listed: "acme://ab" },
    { node: "ACME://ab", listed: "acme://ab" },
  ])("is neither removed nor made again: $node and $listed (case N-2)", async ({ node, listed }) => {
    world.cloud.seed(A, listed, { targetNodeName: "" });
    world.node("a", { podCIDRs: [A], providerID: node });
    await world.start();
    await settle();
    expect([world.cloud.changes, world.condition("a"), world.eventTexts]).toEqual([[], ROUTED, []]);
  });

  test("is never removed, even if only the provider can compare the IDs (case N-2)", async () => {
    world.cloud.listedAs = (route) => ({ ...route, targetProviderId: "acme://internal-4711", targetNodeName: "" });
    world.node("a", { podCIDRs: [A] });
    await world.start();
    await settle();
    expect(world.cloud.changes).toEqual([`ensure ${A}`]);
    await world.restart();
    await settle();
    expect(world.cloud.changes).toEqual([`ensure ${A}`, `ensure ${A}`]);
    expect(world.condition("a")).toBe(ROUTED);
  });

  test.each([
    { written: "no other address", more: [] },
    {
      written: "an address of a type that the contract does not have",
      more: [{ type: "HostIP", address: "10.0.0.1" }],
    },
    { written: "an empty address", more: [{ type: "InternalIP", address: "" }] },
    { written: "an address of 1,000 bytes", more: [{ type: "Hostname", address: "a".repeat(1000) }] },
    {
      written: "more addresses than the contract allows",
      more: Array.from({ length: 70 }, (_, index) => ({ type: "InternalIP", address: `10.1.0.${index}` })),
    },
  ])("is not made again for what cannot be sent: $written (case N-2)", async ({ more }) => {
    world.declared = routesInfo({ targetAddresses: true });
    world.cloud.listedAs = (route) => routeFromProto(routeToProto(route));
    world.node("a", { podCIDRs: [A] }, [{ type: "InternalIP", address: "10.0.0.1" }, ...more]);
    await world.start();
    await settle();
    expect(world.cloud.changes).toEqual([`ensure ${A}`]);
  });

  test("is removed when the node is gone (case N-2)", async () => {
    world.cloud.listedAs = (route) => ({ ...route, targetProviderId: "acme://internal-4711", targetNodeName: "" });
    world.node("a", { podCIDRs: [A] });
    await world.start();
    await settle();
    world.remove("a");
    await settle();
    expect(world.cloud.table).toEqual([]);
  });

  test("stays while a node that the cache does not know has its range (case N-2)", async () => {
    world.cloud.seed(A, "acme://internal-4711", { targetNodeName: "" });
    world.unheard("a", { podCIDRs: [A] });
    await world.start();
    await settle();
    expect(world.cloud.changes).toEqual([]);
  });
});

describe("a range that a node sets itself", () => {
  test.each([
    ["0.0.0.0/0", "it is not inside --cluster-cidr (10.120.0.0/16, fd00::/48)"],
    ["::/0", "it is not inside --cluster-cidr (10.120.0.0/16, fd00::/48)"],
    ["169.254.169.254/32", "it is not inside --cluster-cidr (10.120.0.0/16, fd00::/48)"],
    ["10.120.0.0/15", "it is not inside --cluster-cidr (10.120.0.0/16, fd00::/48)"],
    ["10.120.0.0/16", "it is a whole CIDR of --cluster-cidr, and other Nodes need pod CIDRs in it"],
    ["10.120.1.128/25", `it overlaps pod CIDR ${A} of node victim`],
    ["10.120.1.7/32", `it overlaps pod CIDR ${A} of node victim`],
    ["::ffff:10.120.1.0/120", "node victim has the same pod CIDR"],
    ["10.120.0.0/20", `it overlaps pod CIDR ${A} of node victim`],
    [A, "node victim has the same pod CIDR"],
    ["rubbish", "it is not a valid CIDR"],
  ])("gets no route if it is %s: %s (case A-1)", async (cidr, why) => {
    world.node("victim", { podCIDRs: [A] });
    await world.start();
    world.node("attacker", { podCIDRs: [cidr] });
    await settle();
    expect(world.cloud.table).toEqual([`${A} acme://victim`]);
    expect([world.condition("victim"), world.condition("attacker")]).toEqual([ROUTED, UNROUTED]);
    expect(world.eventTexts[0]).toContain(` for node attacker: ${why} (`);
    world.remove("attacker");
    await settle();
    expect([world.cloud.table, world.condition("victim")]).toEqual([[`${A} acme://victim`], ROUTED]);
  });

  test("is refused with another size than node-ipam-controller allocates here (case A-1)", async () => {
    Object.assign(world.options, { controllers: ["*", "nodeipam"], allocateNodeCidrs: true });
    world.node("attacker", { podCIDRs: ["10.120.0.0/17"] });
    world.node("b", { podCIDRs: [B, "fd00:0:0:1::/64"] });
    await world.start();
    await settle();
    expect(world.cloud.table).toEqual([`${B} acme://b`, "fd00:0:0:1::/64 acme://b"]);
    expect(world.eventTexts[0]).toContain("node-ipam-controller allocates CIDRs of prefix length 24 only");
  });

  test("cuts off no later node, though it came first and is larger (case A-1)", async () => {
    world.node("a", { podCIDRs: [A] });
    await world.start();
    world.node("0-attacker", { podCIDRs: ["10.120.0.0/17"] });
    world.node("b", { podCIDRs: [B] });
    await settle();
    expect(world.cloud.table).toEqual([`${A} acme://a`, `${B} acme://b`]);
    expect([world.condition("a"), world.condition("b")]).toEqual([ROUTED, ROUTED]);
  });

  test("gets its route as soon as the node that had the range is gone (case A-1)", async () => {
    world.node("a", { podCIDRs: [A] });
    await world.start();
    world.node("b", { podCIDRs: ["10.120.1.0/25"] });
    await world.pass(1000);
    expect(world.condition("b")).toBe(UNROUTED);
    world.remove("a");
    await world.pass(2000);
    expect(world.cloud.table).toEqual(["10.120.1.0/25 acme://b"]);
    expect(world.condition("b")).toBe(ROUTED);
  });

  test("may be a whole cluster CIDR in a cluster of one node (case A-1)", async () => {
    world.node("a", { podCIDRs: ["10.120.0.0/16"] });
    await world.start();
    await settle();
    expect(world.cloud.table).toEqual(["10.120.0.0/16 acme://a"]);
    world.remove("a");
    await settle();
    expect(world.cloud.table).toEqual([]);
  });

  test("moves to the new node of a machine that registers under another name, without a gap (case N-2)", async () => {
    world.node("old", { podCIDRs: [A], providerID: "acme://m" });
    await world.start();
    world.node("new", { podCIDRs: [A], providerID: "acme://zone/M" });
    world.remove("old");
    await settle();
    expect(world.cloud.changes).toEqual([`ensure ${A}`]);
    expect(world.condition("new")).toBe(ROUTED);
  });
});
