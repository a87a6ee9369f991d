import { isIPv4, isIPv6 } from "node:net";

/** A family of IP addresses by its number: 4 is `IPv4`, 6 is `IPv6`. */
export type Family = 4 | 6;

/** Addresses that follow each other. */
export interface AddressRange {
  /** Of all its addresses. */
  readonly family: Family;
  /** The first one, as a number. */
  readonly first: bigint;
  /** The last one, included, as a number. */
  readonly last: bigint;
}

/** A range as Kubernetes and clouds write it, such as `10.0.0.0/8`. */
export interface Cidr extends AddressRange {
  /** The one way to write it: host bits cleared, IPv6 shortened. */
  readonly text: string;
  /** How many bits its addresses have in common, 0 to 32 or 128. */
  readonly prefixLength: number;
}

/** The family of an address; undefined for an invalid one, and for one with a zone such as `fe80::1%eth0`, which is valid on one machine only. */
export function familyOf(address: string): Family | undefined {
  return readAddress(address)?.family;
}

/** The canonical form of the address, as the kernel writes it; undefined for an invalid one. */
export function canonicalAddress(address: string): string | undefined {
  const read = readAddress(address);
  return read && formatAddress(read.family, read.value);
}

/** Parses `10.0.0.0/8`; clears host bits. IPv4-mapped IPv6, `::ffff:10.0.0.0/104`, is IPv4. undefined for an invalid CIDR. */
export function parseCidr(text: string): Cidr | undefined {
  const [, address = "", lengthText = ""] = /^([0-9a-fA-F.:]+)\/(\d{1,3})$/.exec(text) ?? [];
  const length = Number(lengthText);
  const isSix = address.includes(":");
  const read = isSix && length < MAPPED_BITS ? readIpv6(address) : readAddress(address);
  if (read === undefined || length > bitsOf(isSix ? 6 : 4)) return undefined;
  const { family, value } = read;
  const prefixLength = isSix && family === 4 ? length - MAPPED_BITS : length;
  const hostMask = (1n << BigInt(bitsOf(family) - prefixLength)) - 1n;
  const first = value - (value & hostMask);
  const range = `${formatAddress(family, first)}/${prefixLength}`;
  return { family, first, last: first + hostMask, text: range, prefixLength };
}

/** The canonical form of the CIDR. A text that is not a CIDR stays as it is, such as the ID of a cloud's prefix list. */
export function canonicalCidr(text: string): string {
  return parseCidr(text)?.text ?? text;
}

/** Parses `192.0.2.10-192.0.2.50`, a CIDR, or one address. undefined for any other text. */
export function parseRange(text: string): AddressRange | undefined {
  if (text.includes("/")) return parseCidr(text);
  const [from = "", to = from, ...rest] = text.split("-").map((part) => part.trim());
  const [first, last] = [readAddress(from), readAddress(to)];
  if (first === undefined || first.family !== last?.family || rest.length > 0) return undefined;
  return first.value <= last.value ? { family: first.family, first: first.value, last: last.value } : undefined;
}

/** How many addresses before this one the range has; undefined: it is not in the range, or none at all. */
export function positionOf(range: AddressRange, address: string): bigint | undefined {
  const { family, value } = readAddress(address) ?? {};
  if (value === undefined || family !== range.family) return undefined;
  return value >= range.first && value <= range.last ? value - range.first : undefined;
}

/**
 * The addresses of these CIDRs in the one way to write them: each in its canonical form, without those that another one contains, in order. Equal results
 * mean equal addresses, however the CIDRs are spelled. A text that is not a CIDR stays as it is.
 */
export function canonicalRanges(texts: readonly string[]): readonly string[] {
  const parsed = texts.map((text) => parseCidr(text));
  const invalid = texts.filter((_, index) => parsed[index] === undefined);
  const cidrs = parsed.filter((cidr) => cidr !== undefined);
  const outer = cidrs.filter(
    (cidr, index) =>
      !cidrs.some(
        (other, at) =>
          other.family === cidr.family &&
          contains(other, formatAddress(cidr.family, cidr.first)) &&
          (other.prefixLength < cidr.prefixLength || (other.prefixLength === cidr.prefixLength && at < index)),
      ),
  );
  const ordered = outer.toSorted((left, right) => left.family - right.family || (left.first < right.first ? -1 : 1));
  return [...ordered.map(({ text }) => text), ...invalid];
}

/** Whether the address is in the range. */
export function contains(range: AddressRange, address: string): boolean {
  return positionOf(range, address) !== undefined;
}

/** Whether two ranges share an address. */
export function overlap(one: AddressRange, other: AddressRange): boolean {
  return one.family === other.family && one.first <= other.last && other.first <= one.last;
}

/** The address with this number, 0 to 2^32 - 1 or 2^128 - 1, in the one way to write it. */
export function formatAddress(family: Family, value: bigint): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => (value >> BigInt(112 - 16 * index)) & 0xffffn);
  return compress(groups.map((group) => group.toString(16)));
}

/** Bits of an address, and so the prefix length of a single one. */
export function bitsOf(family: Family): number {
  return family === 4 ? 32 : 128;
}

/** An address before a port: IPv6 in brackets. */
export function withPort(address: string, port: number): string {
  return isIPv4(address) ? `${address}:${port}` : `[${address}]:${port}`;
}

/** How many bits IPv4-mapped addresses have in common: `::ffff:0:0/96`. */
const MAPPED_BITS = 96;
const MAPPED = 0xffffn;

interface Read {
  readonly family: Family;
  readonly value: bigint;
}

/** An IPv4-mapped address is IPv4: one machine must not have two addresses. */
function readAddress(address: string): Read | undefined {
  if (isIPv4(address)) return { family: 4, value: ipv4ToNumber(address) };
  const read = readIpv6(address);
  return read !== undefined && read.value >> 32n === MAPPED ? { family: 4, value: read.value & 0xffff_ffffn } : read;
}

function readIpv6(address: string): Read | undefined {
  return isIPv6(address) && !address.includes("%") ? { family: 6, value: ipv6ToNumber(address) } : undefined;
}

function ipv4ToNumber(address: string): bigint {
  return address.split(".").reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function ipv6ToNumber(address: string): bigint {
  const end = address.lastIndexOf(":") + 1;
  const tail = address.slice(end);
  if (isIPv4(tail)) {
    const low = ipv4ToNumber(tail);
    return ipv6ToNumber(`${address.slice(0, end)}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`);
  }
  const [left = "", right] = address.split("::");
  const head = left === "" ? [] : left.split(":");
  const back = right === undefined || right === "" ? [] : right.split(":");
  const zeros = Array.from({ length: 8 - head.length - back.length }, () => "0");
  return [...head, ...zeros, ...back].reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

/** RFC 5952: the longest run of at least two zero groups becomes "::", the first one of equals. */
function compress(groups: readonly string[]): string {
  let best = { start: 0, length: 1 };
  let start = 0;
  for (let index = 0; index <= groups.length; index += 1) {
    if (groups[index] === "0") continue;
    if (index - start > best.length) best = { start, length: index - start };
    start = index + 1;
  }
  if (best.length < 2) return groups.join(":");
  return `${groups.slice(0, best.start).join(":")}::${groups.slice(best.start + best.length).join(":")}`;
}
