import type { DeletionCircuitBreaker } from "@cloudwire/operator-api";
import type { QuotaClass } from "../../provider/model/call-rate.ts";
import type { HealthReason, HealthReasonName } from "../../provider/connection/state.ts";
import type { ProviderSnapshot } from "../../provider/sidecar.ts";
import type { ProviderStatus } from "../../provider/model/status.ts";
import { type Evaluation, evaluationOf, met, unmet } from "./evaluation.ts";
import { cause, type KnownCause, type Reason, stateOf } from "../reasons/reasons.ts";

/**
 * How one provider stands. Needs its snapshot (`Providers.snapshots()`), the wall clock, and how the brake of its Nodes stands, if
 * any is said to be gone. Some microseconds; make it once for all of a provider's objects.
 */
export function evaluateProvider(
  snapshot: ProviderSnapshot,
  nowMs: number,
  brake?: DeletionCircuitBreaker,
): Evaluation {
  const { name, info, health } = snapshot;
  const troubles = providerTroubles(snapshot, nowMs);
  const held = heldCause(snapshot);
  const causes = [
    ...troubles,
    ...(brake?.open === true ? [cause("TooManyNodeDeletions", brake.message)] : []),
    ...(held === undefined ? [] : [held]),
  ];
  const isWell = health.ready && troubles.length === 0;
  const wishes = [
    health.ready ? met("connected") : unmet("connected", troubles, snapshot.connection),
    isWell ? met("its cloud answers") : unmet("its cloud answers", troubles),
  ];
  const version = info === undefined ? "" : ` ${info.version}`;
  return evaluationOf(causes, { state: "ok", summary: `Provider ${name}${version} is connected and well.` }, wishes);
}

/**
 * Why nothing can be had of a provider at this moment, what matters most first; none: calls can be made. Needs its snapshot. The same for
 * all objects of the provider: make it once.
 */
export function providerTroubles(snapshot: ProviderSnapshot, nowMs: number): readonly KnownCause[] {
  const { name, health, status } = snapshot;
  const told = health.reasons.map((reason) => troubleOf(name, reason, status));
  const { credentialsExpireTimeMs } = status ?? {};
  const isExpired = credentialsExpireTimeMs !== undefined && credentialsExpireTimeMs <= nowMs;
  if (isExpired) told.push(cause("InvalidCredentials", `Provider ${name}: its credentials have expired.`));
  return told.toSorted((left, right) => rank(left) - rank(right));
}

/** What somebody must do goes before what passes. */
function rank(one: KnownCause): number {
  return stateOf(one) === "blocked" ? 0 : 1;
}

function troubleOf(provider: string, { name, message }: HealthReason, status: ProviderStatus | undefined): KnownCause {
  const reason = name === "CloudNotReady" ? reasonOfStatus(status) : BY_HEALTH[name];
  return cause(reason, `Provider ${provider}: ${message}`);
}

/** What ends by itself when the provider's process is there, and what somebody has to put right. */
const BY_HEALTH: Readonly<Record<Exclude<HealthReasonName, "CloudNotReady">, Reason>> = {
  Connecting: "ProviderUnavailable",
  ConnectionLost: "ProviderUnavailable",
  NotResponding: "ProviderUnavailable",
  SocketMissing: "ProviderUnavailable",
  SocketConnectionRefused: "ProviderUnavailable",
  ConnectionRefused: "ProviderUnavailable",
  HostNotFound: "ProviderUnavailable",
  HostUnreachable: "ProviderUnavailable",
  HandshakeFailed: "ProviderUnavailable",
  SocketPermissionDenied: "ProviderHandshakeFailed",
  NotASocket: "ProviderHandshakeFailed",
  NotGRPC: "ProviderHandshakeFailed",
  NotTLS: "ProviderHandshakeFailed",
  CertificateExpired: "ProviderHandshakeFailed",
  CertificateNameMismatch: "ProviderHandshakeFailed",
  CertificateUsageMismatch: "ProviderHandshakeFailed",
  CertificateUntrusted: "ProviderHandshakeFailed",
  ClientCertificateRejected: "ProviderHandshakeFailed",
  TLSFilesUnusable: "ProviderHandshakeFailed",
  UnsupportedContract: "ProviderHandshakeFailed",
  InvalidHandshake: "ProviderHandshakeFailed",
  ScopeChanged: "ProviderScopeChanged",
  StatusUnknown: "ProviderStatusUnknown",
};

/** By the two conditions that the contract asks for (proto/README.md STA-2). */
function reasonOfStatus(status: ProviderStatus | undefined): Reason {
  const failing = (status?.conditions ?? []).filter(({ status: state }) => state !== "True").map(({ type }) => type);
  const refused = status?.conditions.some(
    ({ type, status: state }) => type === "CredentialsValid" && state === "False",
  );
  if (refused === true) return "InvalidCredentials";
  return failing.includes("CloudReachable") ? "CloudUnavailable" : "ProviderNotReady";
}

/**
 * A limit that holds calls back at this moment; undefined: none does.
 * @param quotaClass of the calls that matter. @default all
 */
export function heldCause({ name, budgets }: ProviderSnapshot, quotaClass?: QuotaClass): KnownCause | undefined {
  const held = budgets.filter(
    ({ heldMs, classes }) => heldMs > 0 && (quotaClass === undefined || classes.includes(quotaClass)),
  );
  if (held.length === 0) return undefined;
  const classes = held.flatMap(({ classes: names }) => names);
  const seconds = Math.ceil(Math.max(...held.map(({ heldMs }) => heldMs)) / 1000);
  const message = `Provider ${name}: its cloud throttles; calls about ${classes.join(", ")} wait for ${seconds} s`;
  return cause("Throttled", message);
}
