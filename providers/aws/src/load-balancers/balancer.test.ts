import { describe, expect, test } from "vitest";
import { subnetMappings } from "./balancer.ts";

const subnets = ["a", "b"].map((zone) => ({ id: `s-${zone}`, zone, hasIpv6: false, tags: {} }));

describe("subnetMappings()", () => {
  test.each([
    [{ allocationIds: [], privateAddresses: [] }, [{ SubnetId: "s-a" }, { SubnetId: "s-b" }]],
    [
      { allocationIds: ["e-1", "e-2"], privateAddresses: [] },
      [
        { SubnetId: "s-a", AllocationId: "e-1" },
        { SubnetId: "s-b", AllocationId: "e-2" },
      ],
    ],
    [
      { allocationIds: [], privateAddresses: ["10.0.1.9", "10.0.2.9"] },
      [
        { SubnetId: "s-a", PrivateIPv4Address: "10.0.1.9" },
        { SubnetId: "s-b", PrivateIPv4Address: "10.0.2.9" },
      ],
    ],
  ])("with %j", (nlb, expected) => {
    expect(subnetMappings(nlb, subnets)).toEqual(expected);
  });

  test("refuses fewer addresses than subnets, and says how many", () => {
    const message = "has 1 addresses for 2 subnets, in a, b: give one for each";
    expect(() => subnetMappings({ allocationIds: ["e-1"], privateAddresses: [] }, subnets)).toThrow(message);
  });
});
