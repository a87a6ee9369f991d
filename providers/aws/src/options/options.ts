import { isIPv6, isIP } from "node:net";
import type { IpFamily } from "@cloudwire/provider-sdk";
import {
  type OptionValues,
  type ProgramEnvironment,
  type ReadOptions,
  readOptions,
} from "@cloudwire/provider-sdk/program";
import type { NodeNameSource } from "../instances/to-instance.ts";
import type { AwsProviderOptions } from "../provider.ts";
import { type FlagName, flags } from "./flags.ts";

export interface ProgramSettings extends AwsProviderOptions {
  readonly endpoint: string | undefined;
}

/** Reads the command line and the environment; the command line counts before. */
export function parseOptions(argv: readonly string[], env: ProgramEnvironment): ReadOptions<ProgramSettings> {
  return readOptions(flags, { argv, env }, toSettings);
}

type Values = OptionValues<FlagName>;

const securityGroupForm = /^sg-[0-9a-f]{8,17}$/;

function toSettings(values: Values): ProgramSettings {
  return {
    endpoint: values.one("endpoint"),
    region: values.required("region", /^[a-z]{2}(?:-[a-z]+)+-\d$/, "a region such as us-east-1"),
    vpcId: values.required("vpc-id", /^vpc-[0-9a-f]{8,17}$/, "the id of a VPC, vpc-…"),
    nodeNames: nodeNames(values),
    ipFamilies: ipFamilies(values),
    watchIntervalMs: values.whole("watch-interval", 10, 3600, 60) * 1000,
    nodeSecurityGroups: values.list("node-security-group", securityGroupForm, "the id of a security group, sg-…"),
    sharedSecurityGroups: values.list(
      "load-balancer-security-group",
      securityGroupForm,
      "the id of a security group, sg-…",
    ),
    routes: routes(values),
    ec2CallRate: values.rate("ec2-call-rate", { cloudCallsPerSecond: 10, burst: 50 }),
    elbCallRate: values.rate("elb-call-rate", { cloudCallsPerSecond: 5, burst: 30 }),
  };
}

function nodeNames(values: Values): NodeNameSource {
  const text = values.optional("node-name", /^(?:private-dns-name|tag:.+)$/, "private-dns-name or tag:Key");
  return text?.startsWith("tag:") ? { kind: "tag", key: text.slice("tag:".length) } : { kind: "privateDnsName" };
}

function ipFamilies(values: Values): readonly IpFamily[] {
  const given = values.list("node-ip-family", /^IPv[46]$/, "IPv4 or IPv6");
  const families = new Set(given.map((text): IpFamily => (text === "IPv6" ? "IPv6" : "IPv4")));
  return families.size === 0 ? ["IPv4"] : [...families];
}

function routes(values: Values): ProgramSettings["routes"] {
  const routeTableId = values.optional("route-table", /^rtb-[0-9a-f]{8,17}$/, "the id of a route table, rtb-…");
  const podCidrs = values.all("pod-cidr");
  for (const text of podCidrs) {
    if (!isRange(text)) values.problems.push(`--pod-cidr ${text}: must be an address range such as 10.244.0.0/16`);
  }
  const quota = values.whole("route-quota", 1, 10_000, 50);
  if ((routeTableId === undefined) !== (podCidrs.length === 0)) {
    values.problems.push("--route-table and --pod-cidr need each other: give both, or none");
  }
  return routeTableId === undefined ? undefined : { routeTableId, podCidrs, quota };
}

function isRange(text: string): boolean {
  const [address = "", bits = "", ...more] = text.split("/");
  const most = isIPv6(address) ? 128 : 32;
  return isIP(address) !== 0 && more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= most;
}
