import type { DesiredLoadBalancer } from "@cloudwire/provider-sdk";
import { describe, expect, test } from "vitest";
import { tcp, udp, wanted } from "../../test/desired.ts";
import { differenceOf } from "../diff.ts";
import { fromPermissions, letsIn, ruleKey, toPermissions, trafficOf, wantedRules } from "./rules.ts";
import { toNlbSpec } from "../desired/nlb-spec.ts";

const rules = (ports: DesiredLoadBalancer["ports"], sourceRanges: readonly string[]) =>
  wantedRules(toNlbSpec(wanted({}, { ports, sourceRanges }))).map(ruleKey);

describe("wantedRules()", () => {
  test.each([
    ["TCP for everybody", [tcp(80)], [], ["tcp|80|80|0.0.0.0/0", "icmp|3|4|0.0.0.0/0"]],
    [
      "two ports for two ranges",
      [tcp(80), udp(53)],
      ["192.0.2.0/24", "2001:db8::/32"],
      [
        "udp|53|53|192.0.2.0/24",
        "tcp|80|80|192.0.2.0/24",
        "icmp|3|4|192.0.2.0/24",
        "udp|53|53|2001:db8::/32",
        "tcp|80|80|2001:db8::/32",
        "icmpv6|2|0|2001:db8::/32",
      ],
    ],
    [
      "TCP and UDP on one port",
      [tcp(53, 30053), udp(53, 30053)],
      [],
      ["tcp|53|53|0.0.0.0/0", "udp|53|53|0.0.0.0/0", "icmp|3|4|0.0.0.0/0"],
    ],
  ])("are for %s", (_what, ports, ranges, expected) => {
    expect(rules(ports, ranges)).toEqual(expected);
  });
});

test("fromPermissions() reads what toPermissions() writes", () => {
  const all = wantedRules(toNlbSpec(wanted({}, { sourceRanges: ["192.0.2.0/24", "2001:db8::/32"] })));
  expect(fromPermissions(toPermissions(all))).toEqual(all);
});

test("fromPermissions() reads ranges that AWS has put together", () => {
  const together = [
    {
      IpProtocol: "tcp",
      FromPort: 80,
      ToPort: 80,
      IpRanges: [{ CidrIp: "192.0.2.0/24" }, { CidrIp: "198.51.100.0/24" }],
    },
  ];
  const nlb = wantedRules(toNlbSpec(wanted({}, { sourceRanges: ["198.51.100.0/24"] })));
  const { added, removed } = differenceOf(nlb, fromPermissions(together), ruleKey);
  expect([added.map(ruleKey), removed.map(ruleKey)]).toEqual([
    ["icmp|3|4|198.51.100.0/24"],
    ["tcp|80|80|192.0.2.0/24"],
  ]);
});

test("letsIn() is true of all traffic of the group, and of nothing less", () => {
  expect(letsIn([trafficOf("sg-1")], "sg-1")).toBe(true);
  expect(letsIn([trafficOf("sg-2")], "sg-1")).toBe(false);
  expect(letsIn([{ ...trafficOf("sg-1"), IpProtocol: "tcp" }], "sg-1")).toBe(false);
  expect(letsIn(undefined, "sg-1")).toBe(false);
});
