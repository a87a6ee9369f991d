import type { CallStats } from "@cloudwire/proto/cloudprovider/v1/common";
import { errorDomain } from "@cloudwire/proto/reasons";
import { withoutSecrets } from "@cloudwire/proto/secrets";
import type { Logger } from "../../telemetry/log.ts";
import type { Clock } from "../../util/clock.ts";
import { durationMs } from "../convert/time.ts";
import { asProviderError, type ProviderError } from "../model/errors.ts";
import type { ProviderMetrics } from "../metrics.ts";
import { type Codec, type Rpc, requestMessage, responseMessage } from "../convert/methods.ts";
import type { RpcCaller, RpcOptions } from "../connection/transport.ts";

export interface InstrumentDeps {
  readonly provider: string;
  readonly metrics: ProviderMetrics;
  readonly log: Logger;
  readonly clock: Clock;
}

/** Verbosity at which each call is a line, and at which its messages are on it. Kubernetes' convention: 4 debug, 6 requests. */
const CALL_LEVEL = 4;
const MESSAGE_LEVEL = 6;

/** Calls as `caller` makes them, each measured and logged. */
export function instrumented(caller: RpcCaller, deps: InstrumentDeps): RpcCaller {
  const { provider, metrics, clock } = deps;
  return {
    async unary<Request, Response>(rpc: Rpc<Request, Response>, request: Request, options: RpcOptions) {
      const startMs = clock.monotonicMs();
      metrics.callsInFlight.inc({ provider });
      try {
        const response = await caller.unary(rpc, request, options);
        noteAnswer(deps, rpc, request, response, { startMs, ...options });
        return response;
      } catch (error) {
        const failure = asProviderError(error);
        noteFailure(deps, rpc, request, failure, { startMs, ...options });
        throw failure;
      } finally {
        metrics.callsInFlight.dec({ provider });
      }
    },
  };
}

interface Noted {
  readonly startMs: number;
  readonly requestId: string;
}

function noteAnswer<Request, Response>(
  { provider, metrics, log, clock }: InstrumentDeps,
  rpc: Rpc<Request, Response>,
  request: Request,
  response: Response,
  { startMs, requestId }: Noted,
): void {
  const method = rpc.name;
  const durationMs = clock.monotonicMs() - startMs;
  metrics.callDurationSeconds.observe({ provider, method, code: "OK", reason: "" }, durationMs / 1000);
  const stats = rpc.stats(response);
  if (stats !== undefined) noteStats(metrics, provider, method, stats);
  log.debug(CALL_LEVEL, "provider call", { method, requestId, durationMs, cloudCalls: stats?.cloudCalls });
  log.debug(MESSAGE_LEVEL, "provider call messages", {
    method,
    requestId,
    request: shownLater(rpc.request, requestMessage(method), request),
    response: shownLater(rpc.response, responseMessage(method), response),
  });
}

function noteFailure<Request, Response>(
  { provider, metrics, log, clock }: InstrumentDeps,
  rpc: Rpc<Request, Response>,
  request: Request,
  failure: ProviderError,
  { startMs, requestId }: Noted,
): void {
  const method = rpc.name;
  const durationMs = clock.monotonicMs() - startMs;
  const { code } = failure;
  metrics.callDurationSeconds.observe({ provider, method, code, reason: reasonLabel(failure) }, durationMs / 1000);
  log.debug(CALL_LEVEL, "provider call failed", { method, requestId, durationMs, code, reason: failure.reason });
  log.debug(MESSAGE_LEVEL, "provider call messages", {
    method,
    requestId,
    request: shownLater(rpc.request, requestMessage(method), request),
    err: failure,
  });
}

function noteStats(metrics: ProviderMetrics, provider: string, method: string, stats: CallStats): void {
  const { cloudCalls, cloudMutations, cloudRetries, throttled, dataAge } = stats;
  // Retries are counted apart; which of them were changes is not told.
  const kinds = { change: cloudMutations, retry: cloudRetries, read: cloudCalls - cloudMutations - cloudRetries };
  for (const [kind, count] of Object.entries(kinds)) {
    if (count > 0) metrics.cloudCallsTotal.inc({ provider, method, kind }, count);
  }
  if (throttled) metrics.cloudThrottledTotal.inc({ provider, method });
  const ageMs = durationMs(dataAge);
  if (ageMs !== undefined) metrics.cloudDataAgeSeconds.observe({ provider, method }, Math.max(0, ageMs) / 1000);
}

/** The contract's reasons are a closed list; a vendor's are not, and would be series without end. */
function reasonLabel({ domain, reason }: ProviderError): string {
  return domain === errorDomain || domain === "" ? reason : "VENDOR";
}

/** Converted only when a line is really written: a request with 15,000 nodes is megabytes of JSON. */
function shownLater<Message>(codec: Codec<Message>, name: string, message: Message): { toJSON(): unknown } {
  return { toJSON: () => withoutSecrets(name, codec.toJSON(message)) };
}
