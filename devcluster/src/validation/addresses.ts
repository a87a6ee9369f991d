import { isIP, isIPv4, isIPv6 } from "node:net";
import { type FieldError, invalidValue } from "./field-error.ts";

const ipMessage = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const cidrMessage = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/** Errors of a field that has to be an IP address. */
export function isAddress(field: string, value: string): readonly FieldError[] {
  const sloppy = withoutLeadingZeros(value);
  if (isIP(value) === 0 || value.includes("%")) {
    return isIPv4(sloppy)
      ? [invalidValue(field, value, "must not have leading 0s")]
      : [invalidValue(field, value, ipMessage)];
  }
  if (isIPv6(value) && /^::ffff:/i.test(value)) {
    return [invalidValue(field, value, "must not be an IPv4-mapped IPv6 address")];
  }
  return [];
}

/** Whether text reads as an IP address, however carelessly written. */
export function looksLikeAddress(value: string): boolean {
  return isIP(value) !== 0 || isIPv4(withoutLeadingZeros(value));
}

/** Errors of a field that has to be an address range. */
export function isCidr(field: string, value: string): readonly FieldError[] {
  const [address = "", prefix = "", ...rest] = value.split("/");
  const bits = isIPv4(address) ? 32 : isIPv6(address) ? 128 : 0;
  if (bits === 0 || rest.length > 0 || !/^(?:0|[1-9]\d*)$/.test(prefix) || Number(prefix) > bits) {
    return [invalidValue(field, value, cidrMessage)];
  }
  return hasHostBits(address, Number(prefix))
    ? [invalidValue(field, value, "must not have bits set beyond the prefix length")]
    : [];
}

function withoutLeadingZeros(value: string): string {
  return value.replaceAll(/(^|\.)0+(?=\d)/g, "$1");
}

function hasHostBits(address: string, prefix: number): boolean {
  const bits = toBits(address);
  return bits.slice(prefix).includes("1");
}

/** The address as a string of its bits. */
export function toBits(address: string): string {
  if (isIPv4(address)) {
    return address
      .split(".")
      .map((part) => Number(part).toString(2).padStart(8, "0"))
      .join("");
  }
  const [head = "", tail] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array.from({ length: gap }, () => "0"), ...right]
    .map((part) => Number.parseInt(part, 16).toString(2).padStart(16, "0"))
    .join("");
}
