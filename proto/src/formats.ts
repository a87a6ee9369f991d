import { isIP } from "node:net";
import type { FieldRule } from "../gen/rules.ts";

type Format = NonNullable<FieldRule["format"]>;

const dnsLabel = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** RFC 1123 subdomain. */
const isDnsName = (text: string): boolean =>
  text.length <= 253 && text.split(".").every((label) => dnsLabel.test(label));

/** An address range: address, slash, prefix length. Host bits are allowed, as in Kubernetes. */
export const isCidr = (text: string): boolean => {
  const match = /^(?<address>[^/]+)\/(?<length>0|[1-9]\d{0,2})$/.exec(text);
  const version = isIP(match?.groups?.["address"] ?? "");
  return version !== 0 && Number(match?.groups?.["length"]) <= (version === 4 ? 32 : 128);
};

const checks: Readonly<Record<Format, { readonly test: (text: string) => boolean; readonly wanted: string }>> = {
  IP: { test: (text) => isIP(text) !== 0 && !text.includes("%"), wanted: "an IPv4 or IPv6 address" },
  CIDR: { test: isCidr, wanted: "an address range such as 10.0.0.0/8" },
  DNS_NAME: { test: isDnsName, wanted: "a DNS name in lower case" },
  PROVIDER_ID: { test: (text) => /^[^:/\s]+:\/\/\S/.test(text), wanted: "a provider ID such as acme://i-1" },
};

/** The problem with a text of this format; undefined if it is valid. */
export const formatProblem = (format: Format, text: string): string | undefined =>
  checks[format].test(text) ? undefined : `${quote(text)} is not ${checks[format].wanted}`;

/** A value of the peer's inside a message: quoted and short. */
export const quote = (text: string): string => JSON.stringify(text.length > 64 ? `${text.slice(0, 63)}…` : text);

/** Protobuf's own bounds of a Timestamp: the years 1 to 9999. */
const minTimeMs = -62_135_596_800_000;
const maxTimeMs = 253_402_300_799_999;

/** Protobuf's own bound of a Duration: about 10,000 years. */
const maxDurationSeconds = 315_576_000_000n;

const property = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;

/** The problem with a decoded value of protobuf's well-known types; undefined if it is valid. */
export const wellKnownProblems: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  "google.protobuf.Timestamp": (value) => {
    const ms = value instanceof Date ? value.getTime() : Number.NaN;
    return ms >= minTimeMs && ms <= maxTimeMs ? undefined : "is no time of the years 1 to 9999";
  },
  "google.protobuf.Duration": (value) => {
    const seconds = property(value, "seconds");
    const nanos = property(value, "nanos");
    const isInRange = typeof seconds !== "bigint" || (seconds >= -maxDurationSeconds && seconds <= maxDurationSeconds);
    const isFraction = typeof nanos !== "number" || Math.abs(nanos) < 1_000_000_000;
    return isInRange && isFraction ? undefined : "is no duration of at most 10,000 years";
  },
};
