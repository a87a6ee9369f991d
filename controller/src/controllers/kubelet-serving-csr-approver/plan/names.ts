import type { NodeAddress } from "../../../api/node.ts";
import { parseCidr } from "../../../util/cidr.ts";

/** DNS-1123 subdomain (apimachinery's validation v0.36): no wildcard, no dot at the end, no capitals. */
const DNS_NAME = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

/** What the cluster's own services are called in certificates of the same authority. */
const CLUSTER_NAME = /^localhost$|^kubernetes$|^kubernetes\.|(?:^|\.)svc(?:\.|$)/;

/** Types of addresses that are names. */
const NAME_TYPES: ReadonlySet<string> = new Set(["Hostname", "InternalDNS", "ExternalDNS"]);

/** `name` is a plain DNS name that could be a machine's. */
export function isMachineName(name: string): boolean {
  return DNS_NAME.test(name) && !CLUSTER_NAME.test(name);
}

/** One spelling for each IP address, so that equal addresses are equal texts. undefined: not an IP address. */
export function canonicalIp(address: string): string | undefined {
  const whole = parseCidr(`${address}/${address.includes(":") ? 128 : 32}`);
  return whole?.text.slice(0, whole.text.indexOf("/"));
}

/** The names among a machine's addresses, in lower case. */
export function namesAmong(addresses: readonly NodeAddress[]): ReadonlySet<string> {
  const names = addresses.filter(({ type }) => NAME_TYPES.has(type));
  return new Set(names.map(({ address }) => address.toLowerCase()));
}

/** The IP addresses of a machine, in one spelling; a Hostname may be one, too. */
export function ipsAmong(addresses: readonly NodeAddress[]): ReadonlySet<string> {
  return new Set(addresses.map(({ address }) => canonicalIp(address)).filter((ip) => ip !== undefined));
}
