import type { CallRate as WireCallRate } from "@cloudwire/proto/cloudprovider/v1/identity";
import { quotaClasses, wordOf } from "@cloudwire/proto/words";
import type { CallRate } from "../model/call-rate.ts";

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
