import { PodCidrs } from "@cloudwire/provider-sdk/addresses";
import { describe, expect, test } from "vitest";
import { planRoute } from "./plan.ts";

const podCidrs = new PodCidrs(["10.244.0.0/16", "2001:db8::/32"]);
const wanted = { destinationCidr: "10.244.1.0/24", targetProviderId: "openstack:///1" };
const route = { destination: "10.244.1.0/24", nexthop: "10.0.0.7" };
const elsewhere = { destination: "10.244.1.0/24", nexthop: "10.0.0.8" };
const other = { destination: "10.244.2.0/24", nexthop: "10.0.0.8" };

describe("planRoute()", () => {
  test.each([
    ["writes one that is missing", "10.0.0.7", [other], { kind: "write", route, removed: [] }],
    ["keeps one that is there", "10.0.0.7", [route, other], { kind: "keep", route }],
    [
      "takes the way of a machine that was replaced",
      "10.0.0.7",
      [elsewhere],
      { kind: "write", route, removed: [elsewhere] },
    ],
    ["removes a second way", "10.0.0.7", [route, elsewhere], { kind: "write", route, removed: [elsewhere] }],
    [
      "refuses a target without address",
      undefined,
      [],
      { kind: "refuse", problem: { reason: "ROUTE_TARGET_NOT_FOUND" } },
    ],
  ])("%s", (_what, nexthop, present, expected) => {
    expect(planRoute(wanted, nexthop, present, podCidrs)).toMatchObject(expected);
  });

  test("compares destinations and next hops by value (case S-1)", () => {
    const present = { destination: "2001:db8:1::/64", nexthop: "fd00::7" };
    const spelled = { ...wanted, destinationCidr: "2001:DB8:1:0::/64" };
    expect(planRoute(spelled, "FD00:0::7", [present], podCidrs)).toEqual({ kind: "keep", route: present });
  });

  test("refuses a range that is not the pods'", () => {
    const step = planRoute({ ...wanted, destinationCidr: "192.168.0.0/24" }, "10.0.0.7", [], podCidrs);
    expect(step).toMatchObject({ kind: "refuse", problem: { reason: "FIELD_INVALID" } });
  });
});
