import { type Server, ServerInterceptingCall, type ServerInterceptor } from "@grpc/grpc-js";
import { maxDeadlineMs } from "./call-scope.ts";

// What @grpc/grpc-js 1.14.7 does not let one set. Each piece reaches for a private field, does nothing when the field is
// not there, and has a component test that fails when a new version changes it.

/** An honest timeout is never negative; this much is rounding. */
const roundingMs = 1_000;

/**
 * grpc-js reads `grpc-timeout` with 32-bit arithmetic (server-interceptors.js, handleTimeoutHeader): 25 to 49 days become a
 * moment in the past and the call fails at once. Such a call gets the longest deadline served instead.
 */
export const tolerateHugeDeadlines =
  (nowMs: () => number): ServerInterceptor =>
  (_method, call) => {
    if (Number(call.getDeadline()) < nowMs() - roundingMs) {
      const timer: unknown = Reflect.get(call, "deadlineTimer");
      if (timer instanceof Object && "close" in timer && typeof timer.close === "function") timer.close();
      Reflect.set(call, "deadlineTimer", null);
      Reflect.set(call, "deadline", nowMs() + maxDeadlineMs);
    }
    return new ServerInterceptingCall(call);
  };

/** Streams that a peer may reset at once, and on average a second. */
const streamResetBurst = 20_000;
const streamResetRate = 2_000;

/**
 * Node ends an HTTP/2 session whose peer resets more than 1,000 streams at once or 33 a second, which is right for the
 * open internet. Here the peer is the controller of the same pod: when many of its calls time out together, the others must
 * not die with them (measured: 1,500 cancellations, contract.md section 2).
 */
export const tolerateMassCancellation = (server: Server): void => {
  const options: unknown = Reflect.get(server, "commonServerOptions");
  if (typeof options !== "object" || options === null) return;
  Reflect.set(options, "streamResetBurst", streamResetBurst);
  Reflect.set(options, "streamResetRate", streamResetRate);
};
