import type { DeletionCircuitBreaker } from "@cloudwire/operator-api";
import type { QuotaClass } from "../../provider/model/call-rate.ts";
import { reasonOfHealth } from "../../provider/connection/health-reason.ts";
import type { HealthReason } from "../../provider/connection/state.ts";
import type { ProviderSnapshot } from "../../provider/sidecar.ts";
import type { ProviderStatus } from "../../provider/model/status.ts";
import { type Evaluation, evaluationOf, met, unmet } from "./evaluation.ts";
import { cause, type KnownCause, stateOf } from "../reasons/reasons.ts";

export function evaluateProvider(
  snapshot: ProviderSnapshot,
  nowMs: number,
  circuitBreaker?: DeletionCircuitBreaker,
): Evaluation {
  const { name, info, health } = snapshot;
  const troubles = providerTroubles(snapshot, nowMs);
  const throttled = throttledCause(snapshot);
  const causes = [
    ...troubles,
    ...(circuitBreaker?.open === true ? [cause("TooManyNodeDeletions", circuitBreaker.message)] : []),
    ...(throttled === undefined ? [] : [throttled]),
  ];
  const isHealthy = health.ready && troubles.length === 0;
  const desired = [
    health.ready ? met("connected") : unmet("connected", troubles, snapshot.connection),
    isHealthy ? met("cloud reachable") : unmet("cloud reachable", troubles),
  ];
  const version = info === undefined ? "" : ` ${info.version}`;
  return evaluationOf(causes, { state: "ok", summary: `Provider ${name}${version} is connected and ready.` }, desired);
}

/** Why calls to the provider fail, most important first; the same for all its objects. */
export function providerTroubles(snapshot: ProviderSnapshot, nowMs: number): readonly KnownCause[] {
  const { name, health, status } = snapshot;
  const causes = health.reasons.map((reason) => troubleOf(name, reason, status));
  const { credentialsExpireTimeMs } = status ?? {};
  const isExpired = credentialsExpireTimeMs !== undefined && credentialsExpireTimeMs <= nowMs;
  if (isExpired) causes.push(cause("InvalidCredentials", `Provider ${name}: its credentials have expired.`));
  return causes.toSorted((left, right) => rank(left) - rank(right));
}

/** Problems that need manual intervention first. */
function rank(one: KnownCause): number {
  return stateOf(one) === "blocked" ? 0 : 1;
}

function troubleOf(provider: string, { name, message }: HealthReason, status: ProviderStatus | undefined): KnownCause {
  return cause(reasonOfHealth(name, status), `Provider ${provider}: ${message}`);
}

/** undefined: the cloud throttles no calls of the quota class. */
export function throttledCause({ name, budgets }: ProviderSnapshot, quotaClass?: QuotaClass): KnownCause | undefined {
  const throttled = budgets.filter(
    ({ heldMs, classes }) => heldMs > 0 && (quotaClass === undefined || classes.includes(quotaClass)),
  );
  if (throttled.length === 0) return undefined;
  const classes = throttled.flatMap(({ classes: names }) => names);
  const seconds = Math.ceil(Math.max(...throttled.map(({ heldMs }) => heldMs)) / 1000);
  const message = `Provider ${name}: the cloud is throttling; calls of quota class ${classes.join(", ")} wait ${seconds} s`;
  return cause("Throttled", message);
}
