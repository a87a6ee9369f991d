import type { BudgetSnapshot } from "../../provider/model/call-rate.ts";
import type { ProviderInfo } from "../../provider/model/info.ts";
import type { ProviderSnapshot } from "../../provider/provider-snapshot.ts";
import type { ProviderStatus } from "../../provider/model/status.ts";
import { iso } from "../../util/iso-time.ts";

/** Every provider, for `/debug/providers`; `nowMs` is wall clock. What is not known is left out. */
export function debugProviders(snapshots: readonly ProviderSnapshot[], nowMs: number): readonly object[] {
  return snapshots.map((snapshot) => {
    const { name, address, connection, health, warnings, info, status, scopeChange, doubt, calls } = snapshot;
    return {
      name,
      address,
      connection,
      ready: health.ready,
      reasons: health.reasons,
      warnings,
      handshake: info && handshake(info),
      recentHandshakes: snapshot.handshakes.map(({ atMs, ...record }) => ({ at: iso(atMs), ...record })),
      status: status && shownStatus(status),
      scopeDoubt: scopeChange,
      absenceDoubt: doubt,
      calls,
      budgets: snapshot.budgets.map((budget) => shownBudget(budget, nowMs)),
    };
  });
}

function handshake({
  name,
  version,
  bootId,
  contractMinor,
  scopeId,
  providerIdPrefixes,
  limits,
}: ProviderInfo): object {
  return { name, version, bootId, contract: `1.${contractMinor}`, scope: scopeId, providerIdPrefixes, limits };
}

function shownStatus(status: ProviderStatus): object {
  const { ready, configRevision, conditions, rateLimits } = status;
  return {
    at: iso(status.receivedAtMs),
    ready,
    configRevision,
    conditions: conditions.map(({ lastTransitionTimeMs, ...condition }) => ({
      ...condition,
      lastTransition: isoIfAny(lastTransitionTimeMs),
    })),
    lastCloudSuccess: isoIfAny(status.lastCloudSuccessTimeMs),
    credentialsExpire: isoIfAny(status.credentialsExpireTimeMs),
    rateLimits: rateLimits.map(({ resetTimeMs, ...rate }) => ({ ...rate, reset: isoIfAny(resetTimeMs) })),
  };
}

function shownBudget({ heldMs, tokens, cloudCallsPerSecond, ...budget }: BudgetSnapshot, nowMs: number): object {
  return {
    ...budget,
    cloudCallsPerSecond: hundredths(cloudCallsPerSecond),
    tokens: hundredths(tokens),
    heldUntil: heldMs === 0 ? undefined : iso(nowMs + heldMs),
  };
}

function hundredths(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value * 100) / 100;
}

function isoIfAny(atMs: number | undefined): string | undefined {
  return atMs === undefined ? undefined : iso(atMs);
}
