import { isIPv6, isIP } from "node:net";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import type { IpFamily } from "@cloudwire/provider-sdk";
import type { NodeNameSource } from "../instances/to-instance.ts";
import type { AwsProviderOptions } from "../provider.ts";
import { type Flag, type FlagName, flags } from "./flags.ts";

export interface ProgramOptions extends AwsProviderOptions {
  readonly endpoint: string | undefined;
}

/** Options, or everything that is wrong with what was given. */
export type ParsedOptions =
  | { readonly kind: "options"; readonly options: ProgramOptions }
  | { readonly kind: "help" }
  | { readonly kind: "problems"; readonly problems: readonly string[] };

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the command line and the environment; the command line counts before. */
export function parseOptions(argv: readonly string[], env: Environment): ParsedOptions {
  const config: ParseArgsOptionsConfig = { help: { type: "boolean" } };
  for (const name of Object.keys(flags)) config[name] = { type: "string", multiple: true };
  let given: ReturnType<typeof parseArgs>["values"];
  try {
    given = parseArgs({ args: [...argv], options: config }).values;
  } catch (error) {
    // parseArgs says which argument is wrong and why, in one or two sentences.
    const problem = error instanceof Error ? error.message : String(error);
    return { kind: "problems", problems: [`${problem} (--help lists all options)`] };
  }
  if (given["help"] === true) return { kind: "help" };
  const values = new Values((name) => {
    const onCommandLine = given[name];
    return Array.isArray(onCommandLine) ? onCommandLine.map(String) : fromEnvironment(name, env);
  });
  const options = toOptions(values);
  return values.problems.length > 0 ? { kind: "problems", problems: values.problems } : { kind: "options", options };
}

function fromEnvironment(name: FlagName, env: Environment): readonly string[] {
  const flag: Flag = flags[name];
  const text = env[flag.env]?.trim();
  if (text === undefined || text === "") return [];
  return flag.repeated ? text.split(/\s+/) : [text];
}

/** What was given, and what is wrong with it. */
class Values {
  readonly all: (name: FlagName) => readonly string[];
  readonly problems: string[] = [];

  constructor(all: (name: FlagName) => readonly string[]) {
    this.all = all;
  }

  /** The last one counts. */
  one(name: FlagName): string | undefined {
    return this.all(name).at(-1);
  }

  required(name: FlagName, form: RegExp, wanted: string): string {
    const text = this.one(name);
    if (text === undefined) this.problems.push(`--${name} is missing: give ${wanted}, or set ${flags[name].env}`);
    else this.#check(name, text, form, wanted);
    return text ?? "";
  }

  optional(name: FlagName, form: RegExp, wanted: string): string | undefined {
    const text = this.one(name);
    if (text !== undefined) this.#check(name, text, form, wanted);
    return text;
  }

  list(name: FlagName, form: RegExp, wanted: string): readonly string[] {
    const texts = this.all(name);
    for (const text of texts) this.#check(name, text, form, wanted);
    return texts;
  }

  whole(name: FlagName, least: number, most: number, otherwise: number): number {
    const text = this.one(name);
    const value = text === undefined ? otherwise : Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    this.problems.push(`--${name} ${text}: must be a whole number, ${least} to ${most}`);
    return otherwise;
  }

  rate(name: FlagName, otherwise: AwsProviderOptions["ec2CallRate"]): AwsProviderOptions["ec2CallRate"] {
    const text = this.one(name);
    if (text === undefined) return otherwise;
    const [, rate, burst] = /^(\d{1,5}(?:\.\d{1,3})?):([1-9]\d{0,4})$/.exec(text) ?? [];
    if (Number(rate) > 0) return { cloudCallsPerSecond: Number(rate), burst: Number(burst) };
    this.problems.push(`--${name} ${text}: must be requests a second and how many at once, such as 10:50`);
    return otherwise;
  }

  #check(name: FlagName, text: string, form: RegExp, wanted: string): void {
    if (!form.test(text)) this.problems.push(`--${name} ${text}: must be ${wanted}`);
  }
}

const securityGroupForm = /^sg-[0-9a-f]{8,17}$/;

function toOptions(values: Values): ProgramOptions {
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

function routes(values: Values): ProgramOptions["routes"] {
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
