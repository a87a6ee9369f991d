import { describe, expect, test } from "vitest";
import { discover, type KnownSubnet, pick, requireIpv6 } from "./subnets.ts";

const role = { "kubernetes.io/role/elb": "1" };
const subnet = (id: string, zone: string, tags: KnownSubnet["tags"] = role): KnownSubnet => ({
  id,
  zone,
  hasIpv6: false,
  tags,
});
const ids = (subnets: readonly KnownSubnet[]) => subnets.map(({ id }) => id);

describe("discover()", () => {
  test.each([
    ["one of each zone, in order", [subnet("s-2", "b"), subnet("s-1", "a")], ["s-1", "s-2"]],
    ["the first of a zone by id", [subnet("s-2", "a"), subnet("s-1", "a")], ["s-1"]],
    [
      "one tagged for a cluster before others",
      [subnet("s-1", "a"), subnet("s-2", "a", { ...role, "kubernetes.io/cluster/blue": "shared" })],
      ["s-2"],
    ],
    ["only those with the role", [subnet("s-1", "a"), subnet("s-2", "b", {})], ["s-1"]],
    ["also those whose tag has no value", [subnet("s-1", "a", { "kubernetes.io/role/elb": "" })], ["s-1"]],
  ])("takes %s", (_what, subnets, expected) => {
    expect(ids(discover(subnets, false, "vpc-1"))).toEqual(expected);
  });

  test("says which tag is missing, of an internal load balancer another", () => {
    const message =
      "no subnet of vpc-1 has the tag kubernetes.io/role/internal-elb=1: tag one in each zone, or name subnets in an annotation";
    expect(() => discover([subnet("s-1", "a")], true, "vpc-1")).toThrow(message);
  });
});

describe("pick()", () => {
  const all = [subnet("s-1", "b", { Name: "Blue" }), subnet("s-2", "a"), subnet("s-3", "a")];

  test("finds subnets by id and by name, in the order of zones", () => {
    expect(ids(pick(all, ["Blue", "s-2"], "vpc-1"))).toEqual(["s-2", "s-1"]);
  });

  test.each([
    [["s-9", "Red"], "vpc-1 has no subnet s-9, Red"],
    [["s-2", "s-3"], "of s-2, s-3 two are in one zone"],
  ])("refuses %j", (named, message) => {
    expect(() => pick(all, named, "vpc-1")).toThrow(message);
  });
});

test("requireIpv6() names the subnets that have no IPv6 CIDR", () => {
  const both = { ...subnet("s-1", "a"), hasIpv6: true };
  expect(() => requireIpv6([both])).not.toThrow();
  expect(() => requireIpv6([both, subnet("s-2", "b")])).toThrow("s-2 have no IPv6 CIDR");
});
