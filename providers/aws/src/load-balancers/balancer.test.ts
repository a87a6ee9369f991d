import { describe, expect, test } from "vitest";
import { ownTags, ownTagsTag, staleTags, subnetMappings } from "./balancer.ts";

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

describe("staleTags()", () => {
  const present = { ...ownTags({ a: "1", b: "2" }), theirs: "x" };

  test("are those that the provider has written and that are wanted no longer", () => {
    expect(staleTags({ b: "2" }, present)).toEqual(["a"]);
  });

  test("exclude those of other owners and deleted ones", () => {
    expect(staleTags({ a: "1", b: "2" }, present)).toEqual([]);
    expect(staleTags({}, { [ownTagsTag]: "gone" })).toEqual([]);
    expect(staleTags({}, { theirs: "x" })).toEqual([]);
  });
});

test("ownTags() keeps its note within what a tag takes", () => {
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`key-number-${index}`, ""]));
  expect((ownTags(many)[ownTagsTag] ?? "").length).toBeLessThanOrEqual(256);
});
