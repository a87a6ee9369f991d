import {
  HealthCheckResponse_ServingStatus as ServingStatus,
  HealthDefinition,
} from "@cloudwire/proto/grpc/health/v1/health";
import { ProviderError } from "../results/errors.ts";
import { type RpcService, serverStream, unary } from "./rpc/method.ts";
import { orAborted } from "../util/clock.ts";
import { draining } from "./runtime.ts";

const { methods } = HealthDefinition;

/** State of the process, not of the cloud: serving until it begins to shut down. */
export const createHealthService = (services: readonly string[], drain: AbortSignal): RpcService => {
  const known = new Set(["", ...services]);
  const status = () => (drain.aborted ? ServingStatus.NOT_SERVING : ServingStatus.SERVING);
  return {
    fullName: HealthDefinition.fullName,
    methods: [
      unary(methods.check, ({ service }) => {
        if (known.has(service)) return { status: status() };
        throw new ProviderError(
          { reason: "SERVICE_UNKNOWN", code: 5, domain: HealthDefinition.fullName },
          `${service} is not served here`,
        );
      }),
      serverStream(methods.watch, async function* ({ service }, call) {
        if (!known.has(service)) {
          yield { status: ServingStatus.SERVICE_UNKNOWN };
          await until(call.signal, drain);
        } else if (!drain.aborted) {
          yield { status: status() };
          await until(call.signal, drain);
          yield { status: status() };
        } else yield { status: status() };
        throw draining();
      }),
    ],
  };
};

/** Resolves when the drain begins, throws when the call ends. */
const until = (signal: AbortSignal, drain: AbortSignal): Promise<void> => {
  const begun = Promise.withResolvers<void>();
  const begin = () => begun.resolve();
  if (drain.aborted) begin();
  drain.addEventListener("abort", begin, { once: true });
  return orAborted(begun.promise, signal).finally(() => drain.removeEventListener("abort", begin));
};
