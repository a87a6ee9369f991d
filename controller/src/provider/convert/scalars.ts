import { hash } from "node:crypto";
import { type NodeAddressType, IpFamily as WireIpFamily } from "@cloudwire/proto/cloudprovider/v1/common";
import { type CallRate as WireCallRate, Protocol as WireProtocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { Duration } from "@cloudwire/proto/google/protobuf/duration";
import { ipFamilies, nodeAddressTypes, protocols, quotaClasses, valueOf, wordOf } from "@cloudwire/proto/words";
import type { CallRate } from "../model/call-rate.ts";
import type { IpFamily, Protocol } from "../model/info.ts";

/** An unset protocol of a Service is TCP; one that is not known here stays unspecified, which providers read as TCP. */
export function protocolToProto(protocol: string): WireProtocol {
  return protocol === "" ? WireProtocol.TCP : (valueOf(protocols, protocol) ?? WireProtocol.UNSPECIFIED);
}

/** undefined for a protocol newer than this program. */
export function protocolFromProto(protocol: WireProtocol): Protocol | undefined {
  return protocol === WireProtocol.UNSPECIFIED ? "TCP" : wordOf(protocols, protocol);
}

export function ipFamilyToProto(family: string): WireIpFamily {
  return valueOf(ipFamilies, family) ?? WireIpFamily.IPV4;
}

/** undefined for a family newer than this program. */
export function ipFamilyFromProto(family: WireIpFamily): IpFamily | undefined {
  return family === WireIpFamily.UNSPECIFIED ? "IPv4" : wordOf(ipFamilies, family);
}

/** undefined for a type that the contract does not have. */
export function addressTypeToProto(type: string): NodeAddressType | undefined {
  return valueOf(nodeAddressTypes, type);
}

/** undefined for a type that was not said or is newer than this program. */
export function addressTypeFromProto(type: NodeAddressType): string | undefined {
  return wordOf(nodeAddressTypes, type);
}

const NANOS_PER_MS = 1_000_000;

/** undefined stays undefined, so that "not said" and "0" stay apart. */
export function durationMs(duration: Duration | undefined): number | undefined {
  return duration === undefined ? undefined : Number(duration.seconds) * 1000 + duration.nanos / NANOS_PER_MS;
}

/** Negative and broken values count as 0. */
export function durationToProto(ms: number): Duration {
  const wholeMs = Number.isFinite(ms) && ms > 0 ? Math.round(ms) : 0;
  return { seconds: BigInt(Math.floor(wholeMs / 1000)), nanos: (wholeMs % 1000) * NANOS_PER_MS };
}

/** undefined for an absent or unreadable time. */
export function timeMs(time: Date | undefined): number | undefined {
  const ms = time?.getTime();
  return ms === undefined || Number.isNaN(ms) ? undefined : ms;
}

/** 0 is how Kubernetes objects here say "no time". */
export function timeToProto(ms: number): Date | undefined {
  return ms === 0 ? undefined : new Date(ms);
}

/** What makes no sense is no limit: the cloud will say what it takes. */
export function callRatesFromProto(wire: readonly WireCallRate[]): readonly CallRate[] {
  return wire.flatMap(({ classes: named, cloudCallsPerSecond, burst }) => {
    const classes = named.flatMap((one) => wordOf(quotaClasses, one) ?? []);
    const isNamedInVain = named.length > 0 && classes.length === 0;
    if (isNamedInVain || !(cloudCallsPerSecond > 0 && Number.isFinite(cloudCallsPerSecond))) return [];
    const burstOfASecond = Math.max(1, Math.ceil(cloudCallsPerSecond));
    return [{ classes, cloudCallsPerSecond, burst: burst === 0 ? burstOfASecond : burst }];
  });
}

/**
 * Bits kept of a SHA-256, in hexadecimal digits: with the prefix short enough, and of few enough kinds of characters, for a
 * tag of any cloud (the strictest takes 63 of `[a-z0-9_-]`).
 */
const DIGITS = 40;

/** Of a fingerprint, over all `lines`. */
export function digest(lines: readonly string[]): string {
  return hash("sha256", lines.map((line) => `${line}\n`).join(""), "hex").slice(0, DIGITS);
}

/** JSON with the keys of every object sorted. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
