import { PodCidrs } from "@cloudwire/provider-sdk/addresses";
import { describe, expect, test } from "vitest";
import { destinationOf, guestTag, planRoute, podRoutes } from "./plan.ts";

const podCidrs = new PodCidrs(["10.120.0.0/16", "2001:db8::/32"]);
const [first, second] = ["i-00000001", "i-00000002"];

describe("podRoutes()", () => {
  test.each([
    [
      "a route to a machine",
      { InstanceId: first, State: "active" },
      { instanceId: first, isBlackhole: false, isForeign: false },
    ],
    [
      "one whose machine has gone",
      { InstanceId: first, State: "blackhole" },
      { instanceId: first, isBlackhole: true, isForeign: false },
    ],
    [
      "one whose interface has gone",
      { NetworkInterfaceId: "eni-1", State: "blackhole" },
      { instanceId: undefined, isBlackhole: true, isForeign: false },
    ],
    [
      "one to an interface of no machine",
      { NetworkInterfaceId: "eni-1", State: "active" },
      { instanceId: undefined, isBlackhole: false, isForeign: true },
    ],
    [
      "one to a gateway",
      { GatewayId: "igw-1", State: "active" },
      { instanceId: undefined, isBlackhole: false, isForeign: true },
    ],
    [
      "one to a transit gateway",
      { TransitGatewayId: "tgw-1", State: "active" },
      { instanceId: undefined, isBlackhole: false, isForeign: true },
    ],
  ] as const)("reads %s", (_what, route, expected) => {
    expect(podRoutes([{ DestinationCidrBlock: "10.120.1.0/24", ...route }], podCidrs)).toEqual([
      { cidr: "10.120.1.0/24", owner: undefined, ...expected },
    ]);
  });

  test("leaves out what is not to a pod CIDR", () => {
    expect(
      podRoutes(
        [{ DestinationCidrBlock: "0.0.0.0/0", InstanceId: first }, { DestinationPrefixListId: "pl-1" }],
        podCidrs,
      ),
    ).toEqual([]);
  });
});

describe("planRoute()", () => {
  const present = new Map(
    podRoutes(
      [
        { DestinationCidrBlock: "10.120.1.0/24", InstanceId: first, State: "active" },
        { DestinationCidrBlock: "10.120.2.0/24", InstanceId: first, State: "blackhole" },
        { DestinationCidrBlock: "10.120.3.0/24", GatewayId: "igw-1", State: "active" },
        { DestinationCidrBlock: "10.120.4.0/24", InstanceId: first, State: "active" },
      ],
      podCidrs,
      { "cloudwire.dev/cluster-id": "host", [guestTag("10.120.4.0/24")]: "guest" },
    ).map((route) => [route.cidr, route]),
  );
  const plan = (destinationCidr: string, targetId: string | undefined, cluster = "host") =>
    planRoute(
      { destinationCidr, targetId, targetProviderId: `aws://${targetId}` },
      present,
      podCidrs,
      new Set([first, second]),
      cluster,
    );

  test.each([
    ["creates a missing one", "10.120.9.0/24", `/a/${first}`, { kind: "create", instanceId: first }],
    ["keeps one that is up to date", "10.120.1.0/24", `/a/${first}`, { kind: "keep", instanceId: first }],
    ["replaces one to another machine", "10.120.1.0/24", `/a/${second}`, { kind: "replace", instanceId: second }],
    ["replaces a black hole", "10.120.2.0/24", `/a/${first}`, { kind: "replace", instanceId: first }],
    ["rejects one that a user created", "10.120.3.0/24", `/a/${first}`, { problem: { reason: "CIDR_CONFLICT" } }],
    ["rejects a CIDR outside of the pod CIDRs", "10.9.0.0/24", `/a/${first}`, { problem: { reason: "FIELD_INVALID" } }],
    [
      "refuses a machine that is not there",
      "10.120.9.0/24",
      "/a/i-00000009",
      { problem: { reason: "ROUTE_TARGET_NOT_FOUND" } },
    ],
    [
      "refuses another provider's machine",
      "10.120.9.0/24",
      undefined,
      { problem: { reason: "ROUTE_TARGET_NOT_FOUND" } },
    ],
  ])("%s", (_what, cidr, targetId, expected) => {
    expect(plan(cidr, targetId)).toMatchObject(expected);
  });

  test.each([
    ["10.120.1.0/24", "guest", { problem: { reason: "CIDR_CONFLICT" } }],
    ["10.120.4.0/24", "host", { problem: { reason: "CIDR_CONFLICT" } }],
    ["10.120.4.0/24", "guest", { kind: "replace" }],
    ["10.120.9.0/24", "guest", { kind: "create" }],
  ])("keeps the route to %s from changes by the wrong cluster, asked by the %s", (cidr, cluster, expected) => {
    expect(plan(cidr, `/a/${second}`, cluster)).toMatchObject(expected);
  });
});

test("destinationOf() names CIDRs of each family as AWS does", () => {
  expect([destinationOf("10.120.1.0/24"), destinationOf("2001:db8::/64")]).toEqual([
    { DestinationCidrBlock: "10.120.1.0/24" },
    { DestinationIpv6CidrBlock: "2001:db8::/64" },
  ]);
});

test("planRoute() compares destinations by value (case S-1)", () => {
  const routes = podRoutes(
    [{ DestinationIpv6CidrBlock: "2001:db8:1::/64", InstanceId: first, State: "active" }],
    podCidrs,
  );
  const present = new Map(routes.map((route) => [route.cidr, { ...route, owner: "cluster-1" }]));
  const route = { destinationCidr: "2001:DB8:1:0::/64", targetId: `/zone/${first}`, targetProviderId: first };
  expect(planRoute(route, present, podCidrs, new Set([first]), "cluster-1").kind).toBe("keep");
});
