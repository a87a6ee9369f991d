import { parseCidr } from "@cloudwire/provider-sdk/addresses";
import { awsError, type Fields, fieldsOf, listOf, pairsOf, textOf, textsOf, toPairs } from "./fields.ts";

/** A security group; its rules as `protocol|from|to|source`, the source in AWS' spelling. */
export interface FakeSecurityGroup {
  readonly id: string;
  readonly name: string;
  readonly tags: Map<string, string>;
  readonly rules: Set<string>;
  /** IDs of groups that its outgoing rules name. */
  readonly sendsTo: Set<string>;
}

export interface FakeMachine {
  readonly id: string;
  /** IDs of its security groups. */
  readonly groups: readonly string[];
  state: "running" | "stopped";
}

type Handler = (input: Fields) => Fields;

export const vpcId = "vpc-1";

/** The part of EC2 that load balancers need. */
export class FakeEc2 {
  readonly groups = new Map<string, FakeSecurityGroup>();
  readonly machines = new Map<string, FakeMachine>();
  /** Subnets by ID, with their tags. */
  readonly subnets = new Map<string, Map<string, string>>();
  /** Groups that network interfaces of a deleted load balancer still have. */
  readonly releasing = new Set<string>();
  /** Rules of a group for each family. */
  rulesQuota = 60;
  readonly handlers: ReadonlyMap<string, Handler>;
  #made = 0;

  constructor() {
    this.handlers = new Map<string, Handler>([
      ["DescribeVpcs", () => ({ Vpcs: [{ VpcId: vpcId, OwnerId: "account-1" }] })],
      ["DescribeSubnets", () => ({ Subnets: [...this.subnets].map(([id, tags]) => toSubnet(id, tags)) })],
      ["DescribeInstances", (input) => ({ Reservations: [{ Instances: this.#instances(input) }] })],
      ["DescribeSecurityGroups", (input) => ({ SecurityGroups: this.#describe(input) })],
      ["CreateSecurityGroup", (input) => this.#create(input)],
      ["DeleteSecurityGroup", (input) => this.#delete(textOf(input["GroupId"]))],
      ["AuthorizeSecurityGroupIngress", (input) => this.#authorize(input)],
      ["RevokeSecurityGroupIngress", (input) => this.#revoke(input)],
      ["CreateTags", (input) => this.#tag(input, (tags, key, value) => tags.set(key, value))],
      ["DeleteTags", (input) => this.#tag(input, (tags, key) => tags.delete(key))],
    ]);
  }

  #create(input: Fields): Fields {
    const name = textOf(input["GroupName"]);
    if ([...this.groups.values()].some((group) => group.name === name)) throw awsError("InvalidGroup.Duplicate");
    this.#made += 1;
    const id = `sg-${this.#made}`;
    const tags = pairsOf(listOf(input["TagSpecifications"])[0]?.["Tags"]);
    this.groups.set(id, { id, name, tags, rules: new Set(), sendsTo: new Set() });
    return { GroupId: id };
  }

  #delete(id: string): Fields {
    this.#group(id);
    const isReferred = [...this.groups.values()].some(
      ({ rules, sendsTo }) => sendsTo.has(id) || [...rules].some((rule) => rule.endsWith(`|${id}`)),
    );
    const isAttached = [...this.machines.values()].some(({ groups }) => groups.includes(id));
    if (isReferred || isAttached || this.releasing.has(id)) throw awsError("DependencyViolation");
    this.groups.delete(id);
    return {};
  }

  #group(id: string): FakeSecurityGroup {
    const group = this.groups.get(id);
    if (group === undefined) throw awsError("InvalidGroup.NotFound");
    return group;
  }

  /** All rules or none, as AWS does. */
  #authorize(input: Fields): Fields {
    const { rules } = this.#group(textOf(input["GroupId"]));
    const added = rulesOf(input);
    if (new Set(added).size < added.length) throw awsError("InvalidParameterValue");
    if (added.some((rule) => rules.has(rule))) throw awsError("InvalidPermission.Duplicate");
    const all = [...rules, ...added];
    for (const isOther of [(rule: string) => rule.includes(":"), (rule: string) => rule.includes(".")]) {
      if (all.filter((rule) => !isOther(rule)).length > this.rulesQuota)
        throw awsError("RulesPerSecurityGroupLimitExceeded");
    }
    for (const rule of added) rules.add(rule);
    return {};
  }

  #revoke(input: Fields): Fields {
    const { rules } = this.#group(textOf(input["GroupId"]));
    const removed = rulesOf(input);
    if (removed.some((rule) => !rules.has(rule))) throw awsError("InvalidPermission.NotFound");
    for (const rule of removed) rules.delete(rule);
    return {};
  }

  #tag(input: Fields, change: (tags: Map<string, string>, key: string, value: string) => unknown): Fields {
    for (const id of textsOf(input["Resources"])) {
      const { tags } = this.#group(id);
      for (const [key, value] of pairsOf(input["Tags"])) change(tags, key, value);
    }
    return {};
  }

  #describe(input: Fields): readonly Fields[] {
    return [...this.groups.values()].filter((group) => hasAll(input, (name) => factsOf(group, name))).map(toGroup);
  }

  #instances(input: Fields): readonly Fields[] {
    return [...this.machines.values()]
      .filter(({ id, groups }) => hasAll(input, (name) => (name === "instance-id" ? [id] : groups)))
      .map(({ id, state }) => ({
        InstanceId: id,
        VpcId: vpcId,
        Placement: { AvailabilityZone: "zone-a" },
        State: { Name: state },
      }));
  }
}

/** True: each filter has a value that the facts of its name have. */
function hasAll(input: Fields, facts: (name: string) => readonly string[]): boolean {
  return listOf(input["Filters"]).every(({ Name, Values }) =>
    textsOf(Values).some((value) => facts(textOf(Name)).includes(value)),
  );
}

function factsOf({ id, name, tags, rules, sendsTo }: FakeSecurityGroup, filter: string): readonly string[] {
  if (filter === "group-id") return [id];
  if (filter === "group-name") return [name];
  if (filter === "ip-permission.group-id") return [...rules].flatMap((rule) => /sg-\d+$/.exec(rule)?.[0] ?? []);
  if (filter === "egress.ip-permission.group-id") return [...sendsTo];
  const value = tags.get(filter.replace(/^tag:/, ""));
  return value === undefined ? [] : [value];
}

function rulesOf(input: Fields): readonly string[] {
  return listOf(input["IpPermissions"]).flatMap(
    ({ IpProtocol, FromPort = -1, ToPort = -1, IpRanges, Ipv6Ranges, UserIdGroupPairs }) => {
      const sources = [
        ...listOf(IpRanges).map(({ CidrIp }) => canonical(textOf(CidrIp))),
        ...listOf(Ipv6Ranges).map(({ CidrIpv6 }) => canonical(textOf(CidrIpv6))),
        ...listOf(UserIdGroupPairs).map(({ GroupId }) => textOf(GroupId)),
      ];
      return sources.map((source) => [IpProtocol, FromPort, ToPort, source].join("|"));
    },
  );
}

/** AWS stores each range in one spelling. */
function canonical(range: string): string {
  const text = parseCidr(range)?.text;
  if (text === undefined) throw awsError("InvalidParameterValue");
  return text;
}

function toGroup({ id, name, tags, rules }: FakeSecurityGroup): Fields {
  const permissions = [...rules].map((rule) => {
    const [IpProtocol, from, to, source = ""] = rule.split("|");
    const ports = from === "-1" && to === "-1" ? {} : { FromPort: Number(from), ToPort: Number(to) };
    if (source.startsWith("sg-")) return { IpProtocol, ...ports, UserIdGroupPairs: [{ GroupId: source }] };
    const ranges = source.includes(":") ? { Ipv6Ranges: [{ CidrIpv6: source }] } : { IpRanges: [{ CidrIp: source }] };
    return { IpProtocol, ...ports, ...ranges };
  });
  return { GroupId: id, GroupName: name, VpcId: vpcId, IpPermissions: permissions, Tags: toPairs(tags) };
}

function toSubnet(id: string, tags: ReadonlyMap<string, string>): Fields {
  const block = { Ipv6CidrBlockState: { State: "associated" } };
  return {
    SubnetId: id,
    AvailabilityZone: `zone-${id}`,
    VpcId: vpcId,
    Ipv6CidrBlockAssociationSet: [fieldsOf(block)],
    Tags: toPairs(tags),
  };
}
