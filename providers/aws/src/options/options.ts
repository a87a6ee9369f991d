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
    endpoint: values.last("endpoint"),
    region: values.required("region", /^[a-z]{2}(?:-[a-z]+)+-\d$/, "a region such as us-east-1"),
    vpcId: values.required("vpc-id", /^vpc-[0-9a-f]{8,17}$/, "the id of a VPC, vpc-…"),
    nodeNames: nodeNames(values),
    ipFamilies: values.ipFamilies("node-ip-family", ["IPv4"]),
    watchIntervalMs: values.integer("watch-interval", 10, 3600, 60) * 1000,
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

function routes(values: Values): ProgramSettings["routes"] {
  const routeTableId = values.optional("route-table", /^rtb-[0-9a-f]{8,17}$/, "the id of a route table, rtb-…");
  const podCidrs = values.ranges("pod-cidr");
  const quota = values.integer("route-quota", 1, 10_000, 50);
  if ((routeTableId === undefined) !== (podCidrs.length === 0)) {
    values.problems.push("--route-table and --pod-cidr must be set together");
  }
  return routeTableId === undefined ? undefined : { routeTableId, podCidrs, quota };
}
