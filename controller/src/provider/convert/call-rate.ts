import type { CallRate as WireCallRate } from "@cloudwire/proto/cloudprovider/v1/identity";
import { quotaClasses, wordOf } from "@cloudwire/proto/words";
import { QUOTA_CLASSES, type QuotaClass } from "../../api/quota-classes.ts";
import type { CallRate } from "../call-rate.ts";

/** The first that names a class counts, then the first for all. What makes no sense is no limit: the cloud will say what it takes. */
export function callRatesFromProto(wire: readonly WireCallRate[]): readonly CallRate[] {
  const taken = new Set<QuotaClass>();
  const whole = wire.filter(({ classes }) => classes.length === 0);
  return [...wire.filter(({ classes }) => classes.length > 0), ...whole].flatMap((rate) => {
    const { cloudCallsPerSecond, burst } = rate;
    const named =
      rate.classes.length === 0 ? QUOTA_CLASSES : rate.classes.flatMap((one) => wordOf(quotaClasses, one) ?? []);
    const classes = named.filter((one) => !taken.has(one));
    if (classes.length === 0 || !(cloudCallsPerSecond > 0)) return [];
    for (const one of classes) taken.add(one);
    const burstOfASecond = Math.max(1, Math.ceil(cloudCallsPerSecond));
    return [{ classes, cloudCallsPerSecond, burst: burst === 0 ? burstOfASecond : burst }];
  });
}
