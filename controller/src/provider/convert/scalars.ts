import { hash } from "node:crypto";
import { type NodeAddressType, IpFamily as WireIpFamily } from "@cloudwire/proto/cloudprovider/v1/common";
import { type CallRate as WireCallRate, Protocol as WireProtocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { Duration } from "@cloudwire/proto/google/protobuf/duration";
import { ipFamilies, nodeAddressTypes, protocols, quotaClasses, valueOf, wordOf } from "@cloudwire/proto/words";
import type { CallRate } from "../model/call-rate.ts";
import type { IpFamily, Protocol } from "../model/info.ts";

/** Unset means TCP. An unknown protocol stays unspecified, which providers read as TCP. */
export function protocolToProto(protocol: string): WireProtocol {
  return protocol === "" ? WireProtocol.TCP : (valueOf(protocols, protocol) ?? WireProtocol.UNSPECIFIED);
}

/** undefined: unknown. */
export function protocolFromProto(protocol: WireProtocol): Protocol | undefined {
  return protocol === WireProtocol.UNSPECIFIED ? "TCP" : wordOf(protocols, protocol);
}

export function ipFamilyToProto(family: string): WireIpFamily {
  return valueOf(ipFamilies, family) ?? WireIpFamily.IPV4;
}

/** undefined: unknown. */
export function ipFamilyFromProto(family: WireIpFamily): IpFamily | undefined {
  return family === WireIpFamily.UNSPECIFIED ? "IPv4" : wordOf(ipFamilies, family);
}

/** undefined: not in the contract. */
export function addressTypeToProto(type: string): NodeAddressType | undefined {
  return valueOf(nodeAddressTypes, type);
}

/** undefined: unset or unknown. */
export function addressTypeFromProto(type: NodeAddressType): string | undefined {
  return wordOf(nodeAddressTypes, type);
}

const NANOS_PER_MS = 1_000_000;

/** Keeps undefined, which differs from 0. */
export function durationMs(duration: Duration | undefined): number | undefined {
  return duration === undefined ? undefined : Number(duration.seconds) * 1000 + duration.nanos / NANOS_PER_MS;
}

/** Negative and non-finite values count as 0. */
export function durationToProto(ms: number): Duration {
  const wholeMs = Number.isFinite(ms) && ms > 0 ? Math.round(ms) : 0;
  return { seconds: BigInt(Math.floor(wholeMs / 1000)), nanos: (wholeMs % 1000) * NANOS_PER_MS };
}

/** undefined: absent or invalid. */
export function timeMs(time: Date | undefined): number | undefined {
  const ms = time?.getTime();
  return ms === undefined || Number.isNaN(ms) ? undefined : ms;
}

/** 0: unset, as in our Kubernetes objects. */
export function timeToProto(ms: number): Date | undefined {
  return ms === 0 ? undefined : new Date(ms);
}

/** Ignores invalid rates: the cloud's own throttling applies. */
export function callRatesFromProto(wire: readonly WireCallRate[]): readonly CallRate[] {
  return wire.flatMap(({ classes: named, cloudCallsPerSecond, burst }) => {
    const classes = named.flatMap((one) => wordOf(quotaClasses, one) ?? []);
    const hasOnlyUnknownClasses = named.length > 0 && classes.length === 0;
    if (hasOnlyUnknownClasses || !(cloudCallsPerSecond > 0 && Number.isFinite(cloudCallsPerSecond))) return [];
    const burstOfASecond = Math.max(1, Math.ceil(cloudCallsPerSecond));
    return [{ classes, cloudCallsPerSecond, burst: burst === 0 ? burstOfASecond : burst }];
  });
}

/** Length of a truncated SHA-256 in hexadecimal digits: with a prefix, it fits the tags of all clouds (the strictest allows 63 of `[a-z0-9_-]`). */
const DIGITS = 40;

/** Digest of a fingerprint over `lines`. */
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
