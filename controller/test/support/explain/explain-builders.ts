import type { ProviderSnapshot } from "../../../src/provider/sidecar.ts";
import type { ProviderCondition } from "../../../src/provider/model/load-balancer.ts";
import type { ProviderStatus } from "../../../src/provider/model/status.ts";
import { classify } from "../../../src/runtime/reconciler.ts";
import { ReconcileHistory, type ReconcileRecord } from "../../../src/runtime/history.ts";
import type { Outcome } from "../../../src/runtime/reconciler.ts";
import { info } from "../provider/provider-builders.ts";

/** How a reconcile that ended so is remembered. */
export function remembered(outcome: Outcome): ReconcileRecord {
  const history = new ReconcileHistory();
  history.add({ key: "k", reconcileID: "id-1", endMs: 0, durationMs: 1 }, outcome);
  const last = history.last("k");
  if (last === undefined) throw new Error("the history forgot it");
  return last;
}

/** How a reconcile that threw it is remembered. */
export function failedWith(error: unknown): ReconcileRecord {
  return remembered(classify(error, new AbortController().signal));
}

/** A provider that is connected and well. */
export function snapshot(parts: Partial<ProviderSnapshot> = {}): ProviderSnapshot {
  return {
    name: "east",
    address: "unix:///east.sock",
    connection: "ready",
    health: { ready: true, reasons: [] },
    warnings: [],
    info: info(),
    handshakes: [],
    status: status(),
    scopeChange: undefined,
    untrustedReason: undefined,
    budgets: [],
    calls: { inFlight: 0, waiting: 0, limit: 16 },
    ...parts,
  };
}

export function status(parts: Partial<ProviderStatus> = {}): ProviderStatus {
  return {
    ready: true,
    bootId: "boot-1",
    scopeId: "project-1",
    configRevision: "",
    conditions: [],
    lastCloudSuccessTimeMs: undefined,
    credentialsExpireTimeMs: undefined,
    rateLimits: [],
    receivedAtMs: 0,
    ...parts,
  };
}

export function condition(type: string, state: ProviderCondition["status"]): ProviderCondition {
  return { type, status: state, reason: "", message: "", lastTransitionTimeMs: undefined };
}
