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

/** Why it is not ready, one line: its conditions that do not hold, or else those that nobody knows of. */
export function notReadyMessage({ conditions }: ProviderStatus): string {
  const broken = conditions.filter(({ status }) => status === "False");
  const failing = broken.length > 0 ? broken : conditions.filter(({ status }) => status !== "True");
  if (failing.length === 0) return "the provider says it is not ready and names no condition";
  return failing
    .map(({ type, reason, message }) => [type, reason, message].filter((part) => part !== "").join(": "))
    .join("; ");
}
