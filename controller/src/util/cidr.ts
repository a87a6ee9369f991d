import { isIPv4, isIPv6 } from "node:net";

/** A CIDR in canonical form: equal CIDRs have equal texts. */
export interface Cidr {
  readonly family: "IPv4" | "IPv6";
  /** Network address without host bits; IPv6 as in RFC 5952. */
  readonly text: string;
  /** First and last address as numbers. */
  readonly first: bigint;
  readonly last: bigint;
}

/** Two zero groups or more, with the colons around them. */
const ZEROS = /(?:^|:)0(?::0)+(?:$|:)/g;

/** Zeros before another digit of the same part of an address. */
const LEADING_ZEROS = /(?<=^|[.:])0+(?=[0-9a-fA-F])/g;

/** The first 96 bits of `::ffff:10.0.0.1`. */
const IPV4_MAPPED = 0xffffn;

/**
 * Parses `10.0.0.0/8` or `fd00::/64` and drops host bits. Like Go's ParseCIDRSloppy (apimachinery's netutils v0.36), with which API servers
 * accepted CIDRs before 1.36: leading zeros are decimal, and IPv4-mapped IPv6 is IPv4. undefined: not a CIDR.
 */
export function parseCidr(text: string): Cidr | undefined {
  const match = /^([^/%]+)\/(\d+)$/.exec(text);
  if (!match) return undefined;
  const [, written = "", length = ""] = match;
  const address = written.replaceAll(LEADING_ZEROS, "");
  if (isIPv4(address)) return rangeOf("IPv4", ipv4Number(address), Number(length));
  const cidr = isIPv6(address) ? rangeOf("IPv6", ipv6Number(address), Number(length)) : undefined;
  const isMapped = cidr !== undefined && Number(length) >= 96 && cidr.first >> 32n === IPV4_MAPPED;
  return isMapped ? rangeOf("IPv4", cidr.first & 0xffff_ffffn, Number(length) - 96) : cidr;
}

/** The canonical text; a text that is not a CIDR stays as it is, for the message that rejects it. */
export function canonicalCidr(text: string): string {
  return parseCidr(text)?.text ?? text;
}

/** One IP address as a CIDR, parsed as in {@link parseCidr}: an IPv6 zone is rejected. undefined: not an IP address. */
export function parseAddress(text: string): Cidr | undefined {
  return parseCidr(`${text}/${text.includes(":") ? 128 : 32}`);
}

/** The canonical text of the first address. */
export function addressText({ text }: Cidr): string {
  return text.slice(0, text.indexOf("/"));
}

/** The canonical text of an IP address; any other text stays as it is. */
export function canonicalIp(text: string): string {
  const address = parseAddress(text);
  return address === undefined ? text : addressText(address);
}

/** `outer` covers every address of `inner`. */
export function contains(outer: Cidr, inner: Cidr): boolean {
  return outer.family === inner.family && outer.first <= inner.first && inner.last <= outer.last;
}

/** Two CIDRs overlap exactly if one of them contains the other. */
export function overlaps(one: Cidr, other: Cidr): boolean {
  return contains(one, other) || contains(other, one);
}

/** Bits of an address. */
export const ADDRESS_BITS = { IPv4: 32, IPv6: 128 } as const;

/** 8 for `10.0.0.0/8`. */
export function prefixLength({ text }: Cidr): number {
  return Number(text.slice(text.indexOf("/") + 1));
}

/** The CIDR of prefix length `length` that `address` is in. undefined: the family's addresses are shorter. */
export function rangeOf(family: Cidr["family"], address: bigint, length: number): Cidr | undefined {
  const bits = ADDRESS_BITS[family];
  if (length > bits) return undefined;
  const hostMask = (1n << BigInt(bits - length)) - 1n;
  const last = address | hostMask;
  const first = last - hostMask;
  const network = family === "IPv4" ? ipv4Text(first) : ipv6Text(first);
  return { family, text: `${network}/${length}`, first, last };
}

function ipv4Number(address: string): bigint {
  return address.split(".").reduce((sum, octet) => sum * 256n + BigInt(octet), 0n);
}

function ipv4Text(address: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 255n).join(".");
}

function ipv6Number(address: string): bigint {
  const [head = "", tail] = address.split("::");
  const before = groupsOf(head);
  const after = groupsOf(tail ?? "");
  const missing = Array.from({ length: 8 - before.length - after.length }, () => 0n);
  return [...before, ...missing, ...after].reduce((sum, group) => sum * 65_536n + group, 0n);
}

/** 16-bit groups; an embedded IPv4 address is two of them. */
function groupsOf(side: string): readonly bigint[] {
  if (side === "") return [];
  return side.split(":").flatMap((group) => {
    if (!group.includes(".")) return [BigInt(`0x${group}`)];
    const address = ipv4Number(group);
    return [address >> 16n, address & 65_535n];
  });
}

/** The longest run of zero groups, the first of equals, becomes `::`. */
function ipv6Text(address: bigint): string {
  const full = address
    .toString(16)
    .padStart(32, "0")
    .replaceAll(/.{4}(?!$)/g, "$&:")
    .replaceAll(/\b0{1,3}/g, "");
  const zerosIn = ([run]: RegExpExecArray): number => run.replaceAll(":", "").length;
  const [longest] = [...full.matchAll(ZEROS)].toSorted((left, right) => zerosIn(right) - zerosIn(left));
  if (longest === undefined) return full;
  return `${full.slice(0, longest.index)}::${full.slice(longest.index + longest[0].length)}`;
}
