import type { IpPermission } from "@aws-sdk/client-ec2";
import { canonicalRanges, parseCidr } from "@cloudwire/provider-sdk/addresses";
import type { NlbSpec } from "../desired/nlb-spec.ts";

/** Who may reach which port of a load balancer. */
export interface SecurityRule {
  /** As AWS has it: tcp, udp, icmp, -1 for all. */
  readonly protocol: string;
  readonly fromPort: number;
  readonly toPort: number;
  /** In its canonical form, as AWS stores it. */
  readonly range: string;
}

/** Clients find out by these messages how large a packet may be. */
const fragmentationNeeded = { protocol: "icmp", fromPort: 3, toPort: 4 } as const;
const packetTooBig = { protocol: "icmpv6", fromPort: 2, toPort: 0 } as const;

/** The rules of the load balancer's own security group. */
export function wantedRules({
  listeners,
  sourceRanges,
}: Pick<NlbSpec, "listeners" | "sourceRanges">): readonly SecurityRule[] {
  return canonicalRanges(sourceRanges).flatMap((range) => [
    ...listeners.flatMap(({ port, protocol }) =>
      transportsOf(protocol).map((transport) => ({ protocol: transport, fromPort: port, toPort: port, range })),
    ),
    { ...(isIpv6(range) ? packetTooBig : fragmentationNeeded), range },
  ]);
}

function transportsOf(protocol: NlbSpec["listeners"][number]["protocol"]): readonly string[] {
  switch (protocol) {
    case "UDP":
      return ["udp"];
    case "TCP_UDP":
      return ["tcp", "udp"];
    case "TCP":
    case "TLS":
      return ["tcp"];
  }
  return protocol satisfies never;
}

/** Whether traffic of clients depends on the rule. */
export function isForTraffic({ protocol }: SecurityRule): boolean {
  return protocol === "tcp" || protocol === "udp" || protocol === "-1";
}

/** Identifies a rule. */
export function ruleKey({ protocol, fromPort, toPort, range }: SecurityRule): string {
  return [protocol, fromPort, toPort, range].join("|");
}

/** Only rules with CIDRs; rules with other groups or prefix lists belong to users. */
export function fromPermissions(permissions: readonly IpPermission[] | undefined): readonly SecurityRule[] {
  return (permissions ?? []).flatMap(
    ({ IpProtocol = "", FromPort = -1, ToPort = -1, IpRanges = [], Ipv6Ranges = [] }) =>
      [...IpRanges.map(({ CidrIp }) => CidrIp), ...Ipv6Ranges.map(({ CidrIpv6 }) => CidrIpv6)].flatMap((range) =>
        range === undefined
          ? []
          : [{ protocol: IpProtocol, fromPort: FromPort, toPort: ToPort, range: parseCidr(range)?.text ?? range }],
      ),
  );
}

export function toPermissions(rules: readonly SecurityRule[]): IpPermission[] {
  return rules.map(({ protocol, fromPort, toPort, range }) => ({
    IpProtocol: protocol,
    FromPort: fromPort,
    ToPort: toPort,
    ...(isIpv6(range) ? { Ipv6Ranges: [{ CidrIpv6: range }] } : { IpRanges: [{ CidrIp: range }] }),
  }));
}

function isIpv6(range: string): boolean {
  return range.includes(":");
}

/** All traffic of a load balancer's group: it sends nothing but to its targets' ports and their health checks. */
export function trafficOf(securityGroupId: string): IpPermission {
  return { IpProtocol: "-1", UserIdGroupPairs: [{ GroupId: securityGroupId }] };
}

/** True: all traffic of that group is let in. */
export function letsIn(permissions: readonly IpPermission[] | undefined, securityGroupId: string): boolean {
  return (permissions ?? []).some(
    ({ IpProtocol, UserIdGroupPairs = [] }) =>
      IpProtocol === "-1" && UserIdGroupPairs.some(({ GroupId }) => GroupId === securityGroupId),
  );
}

/** True: a rule other than that for all traffic names the group. */
export function refersTo(permissions: readonly IpPermission[] | undefined, securityGroupId: string): boolean {
  return (permissions ?? []).some(
    ({ IpProtocol, UserIdGroupPairs = [] }) =>
      IpProtocol !== "-1" && UserIdGroupPairs.some(({ GroupId }) => GroupId === securityGroupId),
  );
}
