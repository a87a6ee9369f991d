import { BlockList, isIPv6 } from "node:net";
import { bitsOf, canonicalAddress, type Cidr, formatAddress, parseCidr } from "@cloudwire/provider-sdk/addresses";

/** Reads `10.0.0.0/8` or `fd00::/64`; undefined if it is neither, or has host bits set. */
export const parseNetwork = (text: string): Cidr | undefined => {
  const cidr = parseCidr(text);
  const [address = ""] = text.split("/");
  return cidr && canonicalAddress(address) === addressAt(cidr, 0) ? cidr : undefined;
};

/** How many addresses the network has. */
export const sizeOf = ({ first, last }: Cidr): bigint => last - first + 1n;

/** The address at a position of the network; 0 is the network address itself. */
export const addressAt = ({ family, first }: Cidr, position: number): string =>
  formatAddress(family, first + BigInt(position));

/** The subnet of the given prefix length at a position of the network. */
export const subnetAt = ({ family, first }: Cidr, prefix: number, position: number): string =>
  `${formatAddress(family, first + (BigInt(position) << BigInt(bitsOf(family) - prefix)))}/${prefix}`;

/** Whether an address is in one of the networks; an empty list allows all. */
export const allowList = (sourceRanges: readonly string[]): ((address: string) => boolean) => {
  if (sourceRanges.length === 0) return () => true;
  const list = new BlockList();
  for (const range of sourceRanges) {
    const cidr = parseNetwork(range);
    if (cidr) list.addSubnet(addressAt(cidr, 0), cidr.prefixLength, cidr.family === 4 ? "ipv4" : "ipv6");
  }
  return (address) => list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
};
