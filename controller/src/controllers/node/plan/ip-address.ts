/** An IP address in one spelling, so that equal addresses are equal texts. */
export interface IpAddress {
  readonly family: "IPv4" | "IPv6";
  /** IPv4 dotted without leading zeros; IPv6 as eight groups without compression. */
  readonly text: string;
}

/**
 * Reads an IP as Go's ParseIPSloppy does (apimachinery's netutils v0.36): leading zeros in IPv4 are decimal, an IPv6 zone
 * is refused, an IPv4-mapped IPv6 address is the IPv4 address. undefined: not an IP.
 */
export function parseIp(text: string): IpAddress | undefined {
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

/** 0.0.0.0 or ::. */
export function isUnspecified({ text }: IpAddress): boolean {
  return text === "0.0.0.0" || text === "0:0:0:0:0:0:0:0";
}

function parseIpv4(text: string): IpAddress | undefined {
  const octets = text.split(".");
  if (octets.length !== 4 || !octets.every((octet) => /^[0-9]+$/.test(octet) && Number(octet) <= 255)) return undefined;
  return { family: "IPv4", text: octets.map(Number).join(".") };
}

function parseIpv6(text: string): IpAddress | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head = "", tail] = halves;
  const before = groupsOf(head, tail === undefined);
  const after = tail === undefined ? [] : groupsOf(tail, true);
  if (before === undefined || after === undefined) return undefined;
  const missing = 8 - before.length - after.length;
  // Go: "::" stands for at least one group.
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...before, ...Array.from({ length: missing }, () => 0), ...after];
  return mappedIpv4(groups) ?? { family: "IPv6", text: groups.map((group) => group.toString(16)).join(":") };
}

/** The 16-bit groups of one side of "::"; dotted IPv4 may only end the whole address. */
function groupsOf(side: string, endsAddress: boolean): readonly number[] | undefined {
  if (side === "") return [];
  const groups: number[] = [];
  const parts = side.split(":");
  for (const [index, part] of parts.entries()) {
    const octets = endsAddress && index === parts.length - 1 && part.includes(".") ? parseIpv4(part) : undefined;
    if (octets !== undefined) {
      const [a = 0, b = 0, c = 0, d = 0] = octets.text.split(".").map(Number);
      groups.push(a * 256 + b, c * 256 + d);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      groups.push(Number.parseInt(part, 16));
    } else {
      return undefined;
    }
  }
  return groups;
}

function mappedIpv4(groups: readonly number[]): IpAddress | undefined {
  const [high = 0, low = 0] = groups.slice(6);
  if (!groups.slice(0, 5).every((group) => group === 0) || groups[5] !== 0xffff) return undefined;
  return { family: "IPv4", text: [high >> 8, high & 255, low >> 8, low & 255].join(".") };
}
