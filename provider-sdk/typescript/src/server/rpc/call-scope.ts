import { randomUUID } from "node:crypto";
import type { Metadata } from "@grpc/grpc-js";
import { parseTraceparent } from "../../telemetry/trace-context.ts";
import type { Clock } from "../../util/clock.ts";
import type { RpcCall, RpcMethod } from "./method.ts";

/** A call from its arrival to its answer. */
export interface CallScope {
  readonly call: RpcCall;
  /** Ends the handler's work: the caller is gone or the server is forced down. */
  readonly abort: (reason: Error) => void;
  /** Releases the timer. */
  readonly close: () => void;
}

/** What a scope is made of. */
export interface CallScopeOptions {
  readonly method: Pick<RpcMethod, "name" | "mutation" | "kind">;
  readonly metadata: Metadata;
  /** As grpc-js gives it: Infinity when the caller set none. */
  readonly deadline: Date | number;
  readonly clock: Clock;
}

/** Deadline of a unary call whose caller set none. Contract, section 3.10: callers always set one. */
const defaultDeadlineMs = 60_000;

/** Longest deadline honored; the contract's callers never set more. */
export const maxDeadlineMs = 3_600_000;

const neverMs = Number.MAX_SAFE_INTEGER;

/** Opens the scope of one call: its id, its deadline, its signal. */
export const openCallScope = (options: CallScopeOptions): CallScope => {
  const { method, metadata } = options;
  const controller = new AbortController();
  const deadlineMs = effectiveDeadline(options);
  const { clock } = options;
  const cancelTimer =
    deadlineMs === neverMs
      ? () => undefined
      : clock.after(Math.max(0, deadlineMs - clock.nowMs()), () =>
          controller.abort(new DOMException(`The deadline of ${method.name} has passed`, "TimeoutError")),
        );
  return {
    call: {
      method: method.name,
      mutation: method.mutation,
      requestId: requestId(metadata),
      traceparent: traceparent(metadata),
      signal: controller.signal,
      deadlineMs,
    },
    abort: (reason) => controller.abort(reason),
    close: cancelTimer,
  };
};

/** By the provider's clock: grpc-js gives the deadline by the system clock. */
const effectiveDeadline = ({ deadline, method, clock }: CallScopeOptions): number => {
  const leftMs = Number(deadline) - Date.now();
  if (Number.isFinite(leftMs)) return clock.nowMs() + Math.min(leftMs, maxDeadlineMs);
  return method.kind === "unary" ? clock.nowMs() + defaultDeadlineMs : neverMs;
};

const wellFormedRequestId = /^[\x21-\x7e]{1,128}$/;

const requestId = (metadata: Metadata): string => {
  const given = firstText(metadata, "x-request-id");
  return given !== undefined && wellFormedRequestId.test(given) ? given : randomUUID();
};

/** A malformed trace context is ignored, as W3C demands: it must never fail a call. */
const traceparent = (metadata: Metadata): string | undefined => {
  const given = firstText(metadata, "traceparent");
  return given !== undefined && parseTraceparent(given) !== undefined ? given : undefined;
};

const firstText = (metadata: Metadata, key: string): string | undefined => {
  const [value] = metadata.get(key);
  return typeof value === "string" ? value : undefined;
};
