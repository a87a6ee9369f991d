import { createHash } from "node:crypto";

/** What target groups of one load balancer begin with. AWS allows 32 characters of `[A-Za-z0-9-]`, no two hyphens in a row. */
export function groupPrefix(key: string): string {
  return `cw-${digest(key, 16)}-`;
}

/** What can never be changed on a target group, or not without a gap: another value is another group. */
export interface GroupIdentity {
  readonly listenerPort: number;
  readonly protocol: string;
  readonly nodePort: number;
  readonly healthCheckProtocol: string;
  readonly healthCheckIntervalSeconds: number;
  readonly ipFamily: "ipv4" | "ipv6";
}

/** Name of a target group: the same as long as the group can be kept. */
export function groupName(key: string, identity: GroupIdentity): string {
  const { listenerPort, protocol, nodePort, healthCheckProtocol, healthCheckIntervalSeconds, ipFamily } = identity;
  const facts = [listenerPort, protocol, nodePort, healthCheckProtocol, healthCheckIntervalSeconds];
  if (ipFamily === "ipv6") facts.push(ipFamily);
  return `${groupPrefix(key)}${digest(facts.join(), 8)}`;
}

/** Name of the security group of a load balancer. */
export function securityGroupName(key: string): string {
  return `cloudwire-${key}`;
}

function digest(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}
