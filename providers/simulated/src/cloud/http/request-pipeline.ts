import type { FastifyReply, FastifyRequest } from "fastify";
import type { FaultSpec, Settings } from "../../api/admin.ts";
import { callerOf } from "../accounts.ts";
import type { CallLog } from "../chaos/call-log.ts";
import { type Faults, replacingKinds } from "../chaos/faults.ts";
import { bestFit } from "../chaos/pattern.ts";
import type { RateLimiter } from "../chaos/rate-limiter.ts";
import type { ServingLimiter } from "../chaos/serving-limiter.ts";
import { type Clock, wait } from "../clock.ts";
import { CloudError } from "../errors.ts";
import type { Random } from "../random.ts";
import type { Database } from "../store/database.ts";
import type { HttpServer } from "./server.ts";

export interface RequestPipelineOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: () => Settings;
  readonly faults: Faults;
  readonly calls: CallLog;
  readonly rateLimiter: RateLimiter;
  readonly servingLimiter: ServingLimiter;
}

/** What every call of the API passes: count, faults, key, right, rate limit, line, latency. In this order. */
export const installRequestPipeline = (server: HttpServer, options: RequestPipelineOptions): void => {
  server.addHook("onRequest", async (request, reply) => {
    const { operation, mutating = false } = request.routeOptions.config;
    if (operation === undefined) return undefined;
    const signal = follow(request, reply, options, operation, mutating);
    request.call = { operation, account: "", faults: options.faults.strike(operation), asked: [], signal };
    const fault = replacing(request, "before");
    if (fault) return strikeBefore(request, reply, fault);
    admit(request, options, mutating);
    const leave = await options.servingLimiter.enter(request.call.account, operation, signal);
    // The client went before its turn came: nothing is carried out for it.
    if (!leave) return reply.hijack();
    reply.raw.once("close", leave);
    await wait(options.clock, latencyMs(options, operation), signal);
    return undefined;
  });
  server.addHook("onSend", async (request, reply, payload) => {
    options.calls.noteAsked(request.call?.asked ?? [], options.clock.now());
    const fault = replacing(request, "after");
    return fault ? strikeAfter(request, reply, fault) : payload;
  });
};

/** Counts the call, and at its end logs it. Returns a signal for the client having gone. */
const follow = (
  request: FastifyRequest,
  reply: FastifyReply,
  options: RequestPipelineOptions,
  operation: string,
  mutating: boolean,
): AbortSignal => {
  const { clock, calls } = options;
  const startMs = clock.now();
  const end = calls.begin(operation, mutating);
  const gone = new AbortController();
  reply.raw.once("close", () => {
    // Who has the answer is not gone, and an abort costs more than the rest of the call: its error has a stack.
    if (!reply.raw.writableFinished) gone.abort();
    const { account, faults } = request.call;
    end({
      time: new Date(startMs).toISOString(),
      operation,
      mutating,
      ...(account === "" ? {} : { account }),
      requestId: request.id,
      status: reply.raw.writableFinished ? reply.raw.statusCode : 0,
      durationMs: clock.now() - startMs,
      faults: faults.map((fault) => fault.kind),
      method: request.method,
      path: request.url,
    });
  });
  return gone.signal;
};

const admit = (request: FastifyRequest, options: RequestPipelineOptions, mutating: boolean): void => {
  const key = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
  if (key === undefined) throw new CloudError("Unauthenticated", "send the API key as `Authorization: Bearer <key>`");
  const caller = callerOf(options.database, key);
  if (!caller) throw new CloudError("Unauthenticated", "the API key is unknown");
  request.call.account = caller.account;
  if (mutating && caller.role === "viewer") {
    throw new CloudError("AccessDenied", `the API key may only read: ${request.call.operation} needs the role editor`);
  }
  const waitMs = options.rateLimiter.take(caller.account, options.settings().rateLimit);
  if (waitMs > 0) {
    throw new CloudError("RateLimited", `account ${caller.account} calls too often`, Math.ceil(waitMs / 1000));
  }
};

const latencyMs = ({ settings, random }: RequestPipelineOptions, operation: string): number => {
  const latency = bestFit(settings().latency, operation);
  return latency ? latency.fixedMs + random() * latency.jitterMs : 0;
};

const replacing = (request: FastifyRequest, phase: "before" | "after"): FaultSpec | undefined =>
  request.call?.faults.find((fault) => replacingKinds.has(fault.kind) && (fault.phase ?? "before") === phase);

const strikeBefore = (request: FastifyRequest, reply: FastifyReply, fault: FaultSpec): FastifyReply => {
  const error = errorOf(fault);
  if (error) throw error;
  if (fault.kind === "malformed") return reply.type("application/json").send(malformedBody);
  if (fault.kind === "reset") request.raw.socket.resetAndDestroy();
  // A hang stays open until the client has had enough.
  return reply.hijack();
};

const strikeAfter = async (request: FastifyRequest, reply: FastifyReply, fault: FaultSpec): Promise<string> => {
  const error = errorOf(fault);
  if (error) {
    void reply.code(error.status);
    if (error.retryAfterSeconds !== undefined) void reply.header("retry-after", String(error.retryAfterSeconds));
    return JSON.stringify({ code: error.code, message: error.message, requestId: request.id });
  }
  if (fault.kind === "reset") request.raw.socket.resetAndDestroy();
  if (fault.kind === "hang" || fault.kind === "reset") await clientGone(request.call.signal);
  return malformedBody;
};

/** What a proxy leaves of an answer that it cut. */
const malformedBody = '{"items":[{"id":"';

const errorOf = (fault: FaultSpec): CloudError | undefined => {
  const retryAfter = fault.retryAfterSeconds;
  switch (fault.kind) {
    case "unauthenticated":
      return new CloudError("Unauthenticated", "the API key is unknown");
    case "forbidden":
      return new CloudError("AccessDenied", "the API key lacks the right for this operation");
    case "rateLimited":
      return new CloudError("RateLimited", "the account calls too often", retryAfter ?? 1);
    case "quotaExceeded":
      return new CloudError("QuotaExceeded", "the account has as many as it may have");
    case "internalError":
      return new CloudError("InternalError", "the cloud failed to carry out the request");
    case "unavailable":
      return new CloudError("ServiceUnavailable", "the cloud cannot be reached at the moment", retryAfter);
    default:
      return undefined;
  }
};

const clientGone = async (signal: AbortSignal): Promise<void> => {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => {
      resolve();
    });
  });
};
