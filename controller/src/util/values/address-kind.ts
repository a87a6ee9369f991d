import { type Cidr, contains, parseCidr } from "../cidr.ts";

/** Kinds of addresses that belong to no single machine of a network. */
export type SpecialKind = "unspecified" | "loopback" | "link-local" | "multicast" | "broadcast";

/** RFC 6890 and its registries; 0.0.0.0/8 is "this network". */
const RANGES: readonly (readonly [SpecialKind, Cidr | undefined])[] = (
  [
    ["loopback", "127.0.0.0/8"],
    ["loopback", "::1/128"],
    ["unspecified", "0.0.0.0/8"],
    // With the deprecated IPv4-compatible addresses.
    ["unspecified", "::/96"],
    ["link-local", "169.254.0.0/16"],
    ["link-local", "fe80::/10"],
    ["multicast", "224.0.0.0/4"],
    ["multicast", "ff00::/8"],
    ["broadcast", "255.255.255.255/32"],
  ] as const
).map(([kind, range]) => [kind, parseCidr(range)]);

/** undefined: an address that one machine can have. */
export function specialKind(address: Cidr): SpecialKind | undefined {
  return RANGES.find(([, range]) => range !== undefined && contains(range, address))?.[0];
}
