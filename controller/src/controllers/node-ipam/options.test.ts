import { describe, expect, test } from "vitest";
import { nodeCidrs } from "../../kube/node-cidrs.ts";
import { serviceCidrs } from "./options.ts";
import { type Command, type Options, parseCommand } from "../../app/options.ts";

const NAMES = new Set(["node-ipam-controller", "nodeipam"]);
const BASE = ["--provider=acme=unix:///run/acme.sock"];
const ON = [...BASE, "--controllers=*,nodeipam", "--allocate-node-cidrs"];

function parse(args: readonly string[]): Command {
  return parseCommand({ args, environment: {}, readText: () => "" }, NAMES);
}

function problemsOf(args: readonly string[]): readonly string[] {
  const command = parse(args);
  return command.kind === "invalid" ? command.problems.map(({ where, what }) => `${where}: ${what}`) : [];
}

function optionsOf(args: readonly string[]): Options {
  const command = parse(args);
  if (command.kind !== "run") throw new Error(JSON.stringify(command));
  return command.options;
}

describe("nodeIpamProblems()", () => {
  test.each([
    { sentence: "one range", args: ["--cluster-cidr=10.0.0.0/16"] },
    { sentence: "two ranges", args: ["--cluster-cidr=10.0.0.0/16,fd00::/48"] },
    { sentence: "the same sizes", args: ["--cluster-cidr=10.0.0.0/24", "--node-cidr-mask-size=24"] },
    {
      sentence: "sizes of both",
      args: ["--cluster-cidr=fd00::/56,10.0.0.0/8", "--node-cidr-mask-size-ipv4=28", "--node-cidr-mask-size-ipv6=72"],
    },
    {
      sentence: "an IPv4 range of any number of blocks",
      args: ["--cluster-cidr=0.0.0.0/0", "--node-cidr-mask-size=32"],
    },
    {
      sentence: "services of both",
      args: ["--cluster-cidr=10.0.0.0/16", "--service-cluster-ip-range=10.96.0.0/12,fd00::/108"],
    },
    { sentence: "the cloud's ranges without cluster range", args: ["--cidr-allocator-type=CloudAllocator"] },
    {
      sentence: "the cloud's ranges with sizes that no one uses",
      args: ["--cidr-allocator-type=CloudAllocator", "--node-cidr-mask-size=8", "--cluster-cidr=10.0.0.0/16"],
    },
  ])("accepts $sentence", ({ args }) => {
    expect(problemsOf([...ON, ...args])).toEqual([]);
  });

  test.each([
    {
      args: [],
      problem: "--cluster-cidr: it is empty, but --allocate-node-cidrs needs it for pod CIDRs; example: 10.120.0.0/16",
    },
    {
      args: ["--cluster-cidr=10.0.0.0/16,fd00::/48", "--node-cidr-mask-size=24"],
      problem:
        "--node-cidr-mask-size: cannot be used with two cluster CIDRs; use --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6",
    },
    {
      args: ["--cluster-cidr=10.0.0.0/16", "--node-cidr-mask-size=24", "--node-cidr-mask-size-ipv4=25"],
      problem: "--node-cidr-mask-size: conflicts with a size for one IP family; set only one of them",
    },
    {
      args: ["--cluster-cidr=fd00::/48", "--node-cidr-mask-size=64", "--node-cidr-mask-size-ipv6=64"],
      problem: "--node-cidr-mask-size: conflicts with a size for one IP family; set only one of them",
    },
    {
      args: ["--cluster-cidr=10.0.0.0/16", "--node-cidr-mask-size-ipv6=64"],
      problem: "--node-cidr-mask-size-ipv6: is set, but the only CIDR in --cluster-cidr is IPv4",
    },
    {
      args: ["--cluster-cidr=fd00::/48", "--node-cidr-mask-size-ipv4=24"],
      problem: "--node-cidr-mask-size-ipv4: is set, but the only CIDR in --cluster-cidr is IPv6",
    },
    {
      args: ["--cluster-cidr=10.0.0.0/25"],
      problem: "--node-cidr-mask-size-ipv4: /24 is larger than the cluster CIDR 10.0.0.0/25; at least 25",
    },
    {
      args: ["--cluster-cidr=10.0.0.0/16", "--node-cidr-mask-size=33"],
      problem: "--node-cidr-mask-size: /33 is longer than an IPv4 address; at most 32",
    },
    {
      args: ["--cluster-cidr=fd00::/47"],
      problem: "--node-cidr-mask-size-ipv6: /64 divides fd00::/47 into more than 65536 blocks; at most 63",
    },
    {
      args: ["--cluster-cidr=10.0.0.0/16", "--node-cidr-mask-size-ipv4=33"],
      problem: '--node-cidr-mask-size-ipv4: "33" is not a whole number from 0 to 32',
    },
    {
      args: ["--cluster-cidr=10.0.0.0/16", "--cidr-allocator-type=IPAMFromCloud"],
      problem: '--cidr-allocator-type: "IPAMFromCloud" is not one of RangeAllocator, CloudAllocator',
    },
    {
      args: ["--cluster-cidr=10.0.0.0/16", "--service-cluster-ip-range=10.96.0.0"],
      problem: '--service-cluster-ip-range: "10.96.0.0" is not a CIDR; write it like 10.120.0.0/16 or fd00:10::/48',
    },
    {
      args: ["--cluster-cidr=10.0.0.0/16", "--service-cluster-ip-range=10.96.0.0/12,10.1.0.0/16"],
      problem:
        '--service-cluster-ip-range: both CIDRs of "10.96.0.0/12,10.1.0.0/16" are IPv4; specify one per IP family',
    },
  ])("refuses $args", ({ args, problem }) => {
    expect(problemsOf([...ON, ...args])).toEqual([problem]);
  });

  test("reports what is wrong together", () => {
    const args = ["--cluster-cidr=10.0.0.0/28,fd00::/16", "--service-cluster-ip-range=x"];
    expect(problemsOf([...ON, ...args]).map((line) => line.split(":")[0])).toEqual([
      "--service-cluster-ip-range",
      "--node-cidr-mask-size-ipv4",
      "--node-cidr-mask-size-ipv6",
    ]);
  });

  test.each([
    { sentence: "the controller is off", args: [...BASE, "--allocate-node-cidrs", "--node-cidr-mask-size=8"] },
    { sentence: "nothing is allocated", args: [...BASE, "--controllers=*,nodeipam", "--node-cidr-mask-size=8"] },
  ])("has nothing to say when $sentence", ({ args }) => {
    expect(problemsOf(args)).toEqual([]);
  });
});

describe("nodeCidrs()", () => {
  test.each([
    { args: ["--cluster-cidr=10.0.0.0/16"], wanted: ["10.0.0.0/16 24"] },
    { args: ["--cluster-cidr=fd00::/48, 10.0.0.0/16"], wanted: ["fd00::/48 64", "10.0.0.0/16 24"] },
    { args: ["--cluster-cidr=fd00::/48", "--node-cidr-mask-size=60"], wanted: ["fd00::/48 60"] },
    {
      args: ["--cluster-cidr=10.0.0.0/16,fd00::/48", "--node-cidr-mask-size-ipv4=26", "--node-cidr-mask-size-ipv6=56"],
      wanted: ["10.0.0.0/16 26", "fd00::/48 56"],
    },
  ])("gives each range its size: $args", ({ args, wanted }) => {
    const ranges = nodeCidrs(optionsOf([...ON, ...args]));
    expect(ranges.map(({ cidr, nodeMaskSize }) => `${cidr.text} ${nodeMaskSize}`)).toEqual(wanted);
  });
});

describe("serviceCidrs()", () => {
  test("reads both", () => {
    const options = optionsOf([...BASE, "--service-cluster-ip-range=10.96.0.0/12,fd00::/108"]);
    expect(serviceCidrs(options).map(({ text }) => text)).toEqual(["10.96.0.0/12", "fd00::/108"]);
  });
});
