import { describe, expect, test } from "vitest";
import type { ProgramEnvironment } from "@cloudwire/provider-sdk/program";
import { parseOptions } from "./options.ts";

const least = ["--region", "us-east-1", "--vpc-id", "vpc-01234567"];
const defaults = {
  endpoint: undefined,
  region: "us-east-1",
  vpcId: "vpc-01234567",
  nodeNames: { kind: "privateDnsName" },
  ipFamilies: ["IPv4"],
  watchIntervalMs: 60_000,
  nodeSecurityGroups: [],
  sharedSecurityGroups: [],
  routes: undefined,
  ec2CallRate: { cloudCallsPerSecond: 10, burst: 50 },
  elbCallRate: { cloudCallsPerSecond: 5, burst: 30 },
};

const options = (argv: readonly string[], env: ProgramEnvironment = {}) => parseOptions([...least, ...argv], env);
const problems = (argv: readonly string[]) => {
  const parsed = parseOptions(argv, {});
  return parsed.kind === "problems" ? parsed.problems : [];
};

describe("parseOptions()", () => {
  test.each([
    [[], {}],
    [["--node-name", "tag:Name"], { nodeNames: { kind: "tag", key: "Name" } }],
    [["--node-ip-family", "IPv6", "--node-ip-family", "IPv4"], { ipFamilies: ["IPv6", "IPv4"] }],
    [["--node-security-group", "sg-01234567"], { nodeSecurityGroups: ["sg-01234567"] }],
    [["--load-balancer-security-group", "sg-01234567"], { sharedSecurityGroups: ["sg-01234567"] }],
    [
      [
        "--route-table",
        "rtb-01234567",
        "--pod-cidr",
        "10.0.0.0/8",
        "--pod-cidr",
        "2001:db8::/32",
        "--route-quota",
        "99",
      ],
      { routes: { routeTableId: "rtb-01234567", podCidrs: ["10.0.0.0/8", "2001:db8::/32"], quota: 99 } },
    ],
    [["--ec2-call-rate", "2.5:7"], { ec2CallRate: { cloudCallsPerSecond: 2.5, burst: 7 } }],
    [["--watch-interval", "10"], { watchIntervalMs: 10_000 }],
    [["--endpoint", "unix:///x.sock"], { endpoint: "unix:///x.sock" }],
  ])("reads %j", (argv, expected) => {
    expect(options(argv)).toEqual({ kind: "settings", settings: { ...defaults, ...expected } });
  });

  test("reads the environment where the command line says nothing", () => {
    const env = {
      AWS_REGION: "eu-west-1",
      CLOUDWIRE_AWS_VPC_ID: "vpc-01234567",
      CLOUDWIRE_AWS_NODE_IP_FAMILY: "IPv4 IPv6",
    };
    expect(parseOptions(["--region", "us-gov-east-1"], env)).toMatchObject({
      settings: { region: "us-gov-east-1", ipFamilies: ["IPv4", "IPv6"] },
    });
  });

  test("reports all problems with their fixes", () => {
    expect(
      problems(["--vpc-id", "x", "--pod-cidr", "10.0.0.0", "--ec2-call-rate", "0:1", "--watch-interval", "1"]),
    ).toEqual([
      "--region is missing: give a region such as us-east-1, or set AWS_REGION",
      "--vpc-id x: must be the id of a VPC, vpc-…",
      "--watch-interval 1: must be a whole number, 10 to 3600",
      "--pod-cidr 10.0.0.0: must be an address range such as 10.244.0.0/16",
      "--route-table and --pod-cidr must be set together",
      "--ec2-call-rate 0:1: must be requests a second and how many at once, such as 10:50",
    ]);
  });

  test("refuses what it does not know", () => {
    expect(problems(["--nonsense"])[0]).toContain("--help lists all options");
  });

  test("offers help", () => {
    expect(parseOptions(["--help"], {})).toEqual({ kind: "help" });
  });
});
