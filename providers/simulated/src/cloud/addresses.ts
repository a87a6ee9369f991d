import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";

/** A network, parsed: `base` has its host bits cleared. */
export interface Cidr {
  readonly text: string;
  readonly family: 4 | 6;
  readonly base: bigint;
  readonly prefix: number;
}

/** Reads `10.0.0.0/8` or `fd00::/64`; undefined if it is neither, or has host bits set. */
export const parseCidr = (text: string): Cidr | undefined => {
  const [address, prefixText, ...rest] = text.split("/");
  if (address === undefined || prefixText === undefined || rest.length > 0 || !/^\d{1,3}$/.test(prefixText)) {
    return undefined;
  }
  const family = isIP(address);
  const prefix = Number(prefixText);
  if ((family !== 4 && family !== 6) || prefix > widthOf(family)) return undefined;
  const base = family === 4 ? ipv4ToNumber(address) : ipv6ToNumber(address);
  if ((base & hostMask(family, prefix)) !== 0n) return undefined;
  return { text: formatCidr(family, base, prefix), family, base, prefix };
};

/** How many addresses the network has. */
export const sizeOf = (cidr: Cidr): bigint => 1n << BigInt(widthOf(cidr.family) - cidr.prefix);

/** The address at a position of the network; 0 is the network address itself. */
export const addressAt = (cidr: Cidr, position: number): string =>
  formatAddress(cidr.family, cidr.base + BigInt(position));

/** The position of an address in the network; undefined if it is outside. */
export const positionOf = (cidr: Cidr, address: string): number | undefined => {
  if (isIP(address) !== cidr.family) return undefined;
  const value = cidr.family === 4 ? ipv4ToNumber(address) : ipv6ToNumber(address);
  const position = value - cidr.base;
  return position >= 0n && position < sizeOf(cidr) ? Number(position) : undefined;
};

/** The subnet of the given prefix length at a position of the network. */
export const subnetAt = (cidr: Cidr, prefix: number, position: number): string =>
  formatCidr(cidr.family, cidr.base + (BigInt(position) << BigInt(widthOf(cidr.family) - prefix)), prefix);

/** Tells whether an address is in one of the networks; an empty list lets everybody in. */
export const allowList = (sourceRanges: readonly string[]): ((address: string) => boolean) => {
  if (sourceRanges.length === 0) return () => true;
  const list = new BlockList();
  for (const range of sourceRanges) {
    const cidr = parseCidr(range);
    if (cidr) list.addSubnet(formatAddress(cidr.family, cidr.base), cidr.prefix, cidr.family === 4 ? "ipv4" : "ipv6");
  }
  return (address) => list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
};

const widthOf = (family: 4 | 6): number => (family === 4 ? 32 : 128);
const hostMask = (family: 4 | 6, prefix: number): bigint => (1n << BigInt(widthOf(family) - prefix)) - 1n;

const ipv4ToNumber = (address: string): bigint =>
  address.split(".").reduce((value, part) => (value << 8n) | BigInt(part), 0n);

const ipv6ToNumber = (address: string): bigint => {
  const mapped = address.lastIndexOf(":");
  const tail = address.slice(mapped + 1);
  if (isIPv4(tail)) {
    const low = ipv4ToNumber(tail);
    return ipv6ToNumber(`${address.slice(0, mapped + 1)}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`);
  }
  const [left = "", right] = address.split("::");
  const head = left === "" ? [] : left.split(":");
  const end = right === undefined || right === "" ? [] : right.split(":");
  const groups = [...head, ...Array.from({ length: 8 - head.length - end.length }, () => "0"), ...end];
  return groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
};

const formatCidr = (family: 4 | 6, base: bigint, prefix: number): string => `${formatAddress(family, base)}/${prefix}`;

const formatAddress = (family: 4 | 6, value: bigint): string => {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => (value >> BigInt(112 - 16 * index)) & 0xffffn);
  return compress(groups.map((group) => group.toString(16)));
};

/** RFC 5952: the longest run of at least two zero groups becomes "::", the first one of equals. */
const compress = (groups: readonly string[]): string => {
  let best = { start: 0, length: 1 };
  let start = 0;
  for (let index = 0; index <= groups.length; index += 1) {
    if (groups[index] === "0") continue;
    if (index - start > best.length) best = { start, length: index - start };
    start = index + 1;
  }
  if (best.length < 2) return groups.join(":");
  return `${groups.slice(0, best.start).join(":")}::${groups.slice(best.start + best.length).join(":")}`;
};
