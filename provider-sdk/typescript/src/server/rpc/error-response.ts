import { randomUUID } from "node:crypto";
import { Metadata } from "@grpc/grpc-js";
import { classifyError } from "../../results/classify.ts";
import { permittedError, toStatus } from "../../results/status.ts";
import { ProviderError } from "../../results/errors.ts";
import type { Logger } from "../../telemetry/log.ts";
import { callFields } from "./call-fields.ts";
import type { RpcCall } from "./method.ts";

/** An error in grpc-js' words. */
export interface ErrorAnswer {
  readonly code: number;
  readonly details: string;
  readonly metadata: Metadata;
  /** For metrics; grpc-js ignores it. */
  readonly reason: string;
}

/** Trailers of every answer. */
export const trailersOf = (call: RpcCall): Metadata => {
  const trailers = new Metadata();
  trailers.set("x-request-id", call.requestId);
  return trailers;
};

/** Turns what a handler threw into what the peer sees, and logs what the peer must not see. */
export const answerError = (thrown: unknown, call: RpcCall, log: Logger): ErrorAnswer => {
  const found = toProviderError(thrown, call);
  const error = permittedError(found.error, call.method, "call");
  // A replaced error is a bug of the provider, like an unexpected one.
  logFailure(error, found.masked || error !== found.error, call, log);
  const status = toStatus(error);
  const metadata = trailersOf(call);
  metadata.set("grpc-status-details-bin", status.details);
  return { code: status.code, details: status.message, metadata, reason: error.reason };
};

const toProviderError = (
  thrown: unknown,
  call: RpcCall,
): { readonly error: ProviderError; readonly masked: boolean } => {
  if (call.signal.aborted && !(thrown instanceof ProviderError))
    return { error: abortError(call, thrown), masked: false };
  return classifyError(thrown, { mutation: call.mutation, correlationId: randomUUID() });
};

/** The deadline's own error says more than whatever the abort made the handler throw. */
const abortError = (call: RpcCall, cause: unknown): ProviderError =>
  call.mutation
    ? new ProviderError(
        "DEADLINE_PASSED",
        `${call.method} did not end before its deadline; the change may still be under way`,
        { cause },
      )
    : new ProviderError("CLOUD_TIMEOUT", `${call.method} did not end before its deadline`, { cause });

const operatorCodes = new Set([2, 7, 13, 16]);

const logFailure = (error: ProviderError, masked: boolean, call: RpcCall, log: Logger): void => {
  const fields = { ...callFields(call), reason: error.reason, error };
  if (masked) log.error("A call failed in a way the provider did not expect", fields);
  else if (operatorCodes.has(error.grpcCode)) log.warn("A call failed", fields);
  else log.debug("A call failed", fields);
};
