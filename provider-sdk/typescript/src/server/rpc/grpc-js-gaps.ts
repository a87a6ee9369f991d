import type { Server } from "@grpc/grpc-js";
import { maxDeadlineMs } from "./call-scope.ts";

// What @grpc/grpc-js 1.14.7 does not let one set. Each piece reaches for a private field, does nothing when the field is
// not there, and has a component test that fails when a new version changes it.

const timeoutHeader = "grpc-timeout";

/** Milliseconds of each unit of `grpc-timeout`. */
const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

/**
 * grpc-js reads `grpc-timeout` with 32-bit arithmetic (server-interceptors.js, handleTimeoutHeader): 25 to 49 days become a
 * moment in the past, 50 days some hours, 2^32 ms and a bit no time at all. So what is beyond the longest deadline served never
 * reaches it. `_streamHandler` is what it calls for each stream.
 */
export const tolerateHugeDeadlines = (server: Server): void => {
  const handle: unknown = Reflect.get(server, "_streamHandler");
  if (typeof handle !== "function") return;
  Reflect.set(server, "_streamHandler", (interceptors: unknown, stream: unknown, headers: Record<string, unknown>) =>
    Reflect.apply(handle, server, [interceptors, stream, withServedDeadline(headers)]),
  );
};

const withServedDeadline = (headers: Record<string, unknown>): Record<string, unknown> => {
  const match = /^(?<count>\d{1,8})(?<unit>[HMSmun])$/.exec(String(headers[timeoutHeader]));
  const timeoutMs = Number(match?.groups?.["count"]) * (unitMs[match?.groups?.["unit"] ?? ""] ?? 1);
  return timeoutMs > maxDeadlineMs ? { ...headers, [timeoutHeader]: `${maxDeadlineMs}m` } : headers;
};

/**
 * Node ends an HTTP/2 session whose peer resets 1,000 streams at once or 33 a second, sends 1,000 frames for streams that are
 * closed already, or opens 100 streams too many: all of it what many calls look like that are cancelled together. On the open
 * internet that is right. Here the peer is the controller of the same pod, and its other calls must not die with those.
 * Measured on Node 24.21: 5,000 calls cancelled together, 15 times over, left the others alone, together with a limit of
 * streams at once; without these options 15 times 200 ended the session, without the limit 1,500 made both ends of a Unix
 * socket wait for each other for ever.
 */
const patience = {
  streamResetBurst: 20_000,
  streamResetRate: 2_000,
  maxSessionInvalidFrames: 1_000_000,
  maxSessionRejectedStreams: 1_000_000,
} as const;

/** Lets sessions survive mass cancellation. grpc-js makes its HTTP/2 server from these options when it binds. */
export const tolerateMassCancellation = (server: Server): void => {
  const options: unknown = Reflect.get(server, "commonServerOptions");
  if (typeof options !== "object" || options === null) return;
  for (const [name, value] of Object.entries(patience)) Reflect.set(options, name, value);
};
