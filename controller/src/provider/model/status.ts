import type { ProviderCondition } from "./load-balancer.ts";

/** Last reported status of a provider and its cloud. */
export interface ProviderStatus {
  /** Calls should succeed. */
  readonly ready: boolean;
  readonly bootId: string;
  readonly scopeId: string;
  /** New at each reload of the provider's configuration. */
  readonly configRevision: string;
  readonly conditions: readonly ProviderCondition[];
  readonly lastCloudSuccessTimeMs: number | undefined;
  readonly credentialsExpireTimeMs: number | undefined;
  readonly rateLimits: readonly RateLimit[];
  readonly receivedAtMs: number;
}

export interface RateLimit {
  readonly name: string;
  readonly limit: number;
  readonly remaining: number;
  readonly resetTimeMs: number | undefined;
}

/** One line: the conditions that are False, or else those that are not True. */
export function notReadyMessage({ conditions }: ProviderStatus): string {
  const broken = conditions.filter(({ status }) => status === "False");
  const failing = broken.length > 0 ? broken : conditions.filter(({ status }) => status !== "True");
  if (failing.length === 0) return "the provider reports that it is not ready, without a condition";
  return failing
    .map(({ type, reason, message }) => [type, reason, message].filter((part) => part !== "").join(": "))
    .join("; ");
}
