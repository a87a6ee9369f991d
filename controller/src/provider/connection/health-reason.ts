import type { FailureReason } from "../model/failure-reason.ts";
import type { ProviderStatus } from "../model/status.ts";
import type { RejectionReason } from "./handshake.ts";

/** A label of metrics: never renamed. */
export type HealthReasonName =
  | RejectionReason
  | "Connecting"
  | "ConnectionLost"
  | "ScopeChanged"
  | "CloudNotReady"
  | "StatusUnknown";

/** The reason of the problem in conditions and explanations. Calls that fail because of it have the same reason. */
export function reasonOfHealth(name: HealthReasonName, status: ProviderStatus | undefined): FailureReason {
  return name === "CloudNotReady" ? reasonOfStatus(status) : BY_HEALTH[name];
}

const BY_HEALTH: Readonly<Record<Exclude<HealthReasonName, "CloudNotReady">, FailureReason>> = {
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

/** By the two conditions that the contract requires (proto/README.md STA-2). */
function reasonOfStatus(status: ProviderStatus | undefined): FailureReason {
  const failing = (status?.conditions ?? []).filter(({ status: state }) => state !== "True").map(({ type }) => type);
  const refused = status?.conditions.some(
    ({ type, status: state }) => type === "CredentialsValid" && state === "False",
  );
  if (refused === true) return "InvalidCredentials";
  return failing.includes("CloudReachable") ? "CloudUnavailable" : "ProviderNotReady";
}
