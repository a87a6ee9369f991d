import { failureReason } from "../../provider/model/failure-reason.ts";
import type { ErrorRecord, ErrorSource } from "../../runtime/history.ts";
import type { LastReconcile } from "./evaluation.ts";
import { cause, type KnownCause, type Reason } from "../reasons/reasons.ts";

type ProviderSource = Extract<ErrorSource, { kind: "provider" }>;

/** undefined: the reconcile did not fail, or waits for a reason that the caller knows. */
export function evaluateFailure(last: LastReconcile | undefined): KnownCause | undefined {
  if (last === undefined) return undefined;
  const { outcome, error } = last;
  if (outcome === "planned") return cause("ObserveMode");
  if (error === undefined) return undefined;
  return outcome === "panic" ? cause("InternalError", error.message) : failureCause(error);
}

/** Drops a failure that only repeats a problem of the provider. */
export function unlessEcho(failure: KnownCause | undefined, troubles: readonly KnownCause[]): KnownCause | undefined {
  const isEcho = troubles.some(({ reason }) => reason === failure?.reason || failure?.reason === "ProviderUnavailable");
  return isEcho ? undefined : failure;
}

function failureCause({ from, message }: ErrorRecord): KnownCause {
  if (from === undefined) return cause("SyncFailed", message);
  return from.kind === "apiServer" ? cause("APIServerError", message) : cause(reasonOfProvider(from), message);
}

function reasonOfProvider(error: ProviderSource): Reason {
  return error.isClientThrottled ? "ClientThrottled" : failureReason(error);
}
