import type { GetProviderStatusResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import { conditionFromProto } from "../convert/load-balancer.ts";
import { timeMs } from "../convert/scalars.ts";
import type { ProviderCondition } from "./load-balancer.ts";

/** How a provider and its cloud are, as it said last. */
export interface ProviderStatus {
  /** Calls can be expected to work. */
  readonly ready: boolean;
  readonly bootId: string;
  readonly scopeId: string;
  /** Changes with each reload of the provider's configuration. */
  readonly configRevision: string;
  readonly conditions: readonly ProviderCondition[];
  readonly lastCloudSuccessTimeMs: number | undefined;
  readonly credentialsExpireTimeMs: number | undefined;
  readonly rateLimits: readonly RateLimit[];
  readonly receivedAtMs: number;
}

/** One call budget of the cloud account. */
export interface RateLimit {
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  readonly resetTimeMs: number | undefined;
}

export function providerStatusFromProto(wire: GetProviderStatusResponse, receivedAtMs: number): ProviderStatus {
  return {
    ready: wire.ready,
    bootId: wire.bootId,
    scopeId: wire.scopeId,
    configRevision: wire.configRevision,
    conditions: wire.conditions.map((condition) => conditionFromProto(condition)),
    lastCloudSuccessTimeMs: timeMs(wire.lastCloudSuccessTime),
    credentialsExpireTimeMs: timeMs(wire.credentialsExpireTime),
    rateLimits: wire.rateLimits.map(({ name, limit, remaining, resetTime }) => ({
      name,
      limit: Number(limit),
      remaining: Number(remaining),
      resetTimeMs: timeMs(resetTime),
    })),
    receivedAtMs,
  };
}

/** Why it is not ready, one line: its conditions that do not hold, or else those that nobody knows of. */
export function notReadyMessage({ conditions }: ProviderStatus): string {
  const broken = conditions.filter(({ status }) => status === "False");
  const failing = broken.length > 0 ? broken : conditions.filter(({ status }) => status !== "True");
  if (failing.length === 0) return "the provider says it is not ready and names no condition";
  return failing
    .map(({ type, reason, message }) => [type, reason, message].filter((part) => part !== "").join(": "))
    .join("; ");
}
