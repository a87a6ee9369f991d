import type {
  handleBidiStreamingCall,
  handleServerStreamingCall,
  handleUnaryCall,
  Metadata,
  sendUnaryData,
  ServerDuplexStream,
  ServerUnaryCall,
  ServerWritableStream,
  ServiceDefinition,
  UntypedServiceImplementation,
} from "@grpc/grpc-js";
import { ProviderError } from "../../results/errors.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { CallAnswer, CallSpans } from "../../telemetry/call-spans.ts";
import { type Clock, orAborted } from "../../util/clock.ts";
import { asBuffer, pump } from "./pump.ts";
import { type CallScope, openCallScope } from "./call-scope.ts";
import { answerError, type ErrorAnswer, trailersOf } from "./error-response.ts";
import type {
  DuplexMethod,
  RequestOpener,
  RpcCall,
  RpcMethod,
  RpcService,
  ServerStreamMethod,
  UnaryMethod,
} from "./method.ts";

/** What happens around the handlers of a service. */
export interface RpcHooks {
  /** Called when a call arrives. */
  readonly started: (call: RpcCall) => void;
  /** Refuses a call by throwing. */
  readonly admit: (call: RpcCall) => void;
  /** Called when a call ends; `error` is undefined for success. */
  readonly ended: (call: RpcCall, error: ErrorAnswer | undefined, elapsedMs: number) => void;
}

/** What the adapter needs. */
export interface RpcDeps {
  readonly hooks: RpcHooks;
  readonly log: Logger;
  readonly clock: Clock;
  /** Aborted when the server is forced down. */
  readonly serverSignal: AbortSignal;
  /** Longest time a stream waits for a reader that does not read. */
  readonly slowConsumerMs: number;
  /** Around each unary call; undefined: there are no traces. */
  readonly spans: CallSpans | undefined;
}

/** A service in grpc-js' words. Messages stay bytes there, so that every failure to read or write one gets a status. */
export const toGrpcService = (
  service: RpcService,
  deps: RpcDeps,
): { readonly definition: ServiceDefinition; readonly implementation: UntypedServiceImplementation } => ({
  definition: Object.fromEntries(
    service.methods.map((method) => [
      method.name,
      {
        path: `/${service.fullName}/${method.name}`,
        requestStream: method.kind === "duplex",
        responseStream: method.kind !== "unary",
        requestSerialize: same,
        requestDeserialize: same,
        responseSerialize: same,
        responseDeserialize: same,
      },
    ]),
  ),
  implementation: Object.fromEntries(
    service.methods.map((method) => [method.name, handlerOf(method, service.fullName, deps)]),
  ),
});

const same = (bytes: Buffer): Buffer => bytes;

const handlerOf = (method: RpcMethod, service: string, deps: RpcDeps) => {
  switch (method.kind) {
    case "unary":
      return unaryHandler(method, service, deps);
    case "serverStream":
      return serverStreamHandler(method, deps);
    case "duplex":
      return duplexHandler(method, deps);
    default:
      throw new TypeError(`unknown kind of method ${String(method satisfies never)}`);
  }
};

/** What the three kinds of grpc-js calls have in common. */
interface AnyCall {
  readonly metadata: Metadata;
  getDeadline(): Date | number;
  once(event: "cancelled", listener: () => void): unknown;
  off(event: "cancelled", listener: () => void): unknown;
}

/** Opens the scope of a call and ties it to the caller's patience and to the server's life. */
const enter = (grpcCall: AnyCall, method: RpcMethod, deps: RpcDeps): CallScope => {
  const scope = openCallScope({
    method,
    metadata: grpcCall.metadata,
    deadline: grpcCall.getDeadline(),
    clock: deps.clock,
  });
  const cancelled = () => scope.abort(new DOMException("The caller gave up", "AbortError"));
  const forced = () =>
    scope.abort(new ProviderError("PROVIDER_DRAINING", "The provider has shut down; call again when it is back"));
  grpcCall.once("cancelled", cancelled);
  deps.serverSignal.addEventListener("abort", forced, { once: true });
  return {
    ...scope,
    close: () => {
      scope.close();
      grpcCall.off("cancelled", cancelled);
      deps.serverSignal.removeEventListener("abort", forced);
    },
  };
};

const unaryHandler =
  (method: UnaryMethod, service: string, deps: RpcDeps): handleUnaryCall<Buffer, Buffer> =>
  (grpcCall, callback) => {
    void answerUnary(method, service, grpcCall, callback, deps);
  };

/** Never rejects: grpc-js leaves the caller of a rejected handler to its deadline. */
const answerUnary = async (
  method: UnaryMethod,
  service: string,
  grpcCall: ServerUnaryCall<Buffer, Buffer>,
  callback: sendUnaryData<Buffer>,
  deps: RpcDeps,
): Promise<void> => {
  const scope = enter(grpcCall, method, deps);
  const { call } = scope;
  let work: Promise<CallAnswer> | undefined;
  const workOnce = (): Promise<CallAnswer> => {
    work ??= unaryAnswer(method, grpcCall.request, call, deps);
    return work;
  };
  // Whatever the vendor registered for traces: a call never fails by it, and is never worked on twice.
  await deps.spans?.(service, call, workOnce).catch((error: unknown) => deps.log.warn("A trace failed", { error }));
  const answer = await workOnce();
  scope.close();
  if (answer.kind === "error") callback(answer.error);
  else callback(null, asBuffer(answer.bytes), trailersOf(call));
};

const unaryAnswer = async (method: UnaryMethod, request: Buffer, call: RpcCall, deps: RpcDeps): Promise<CallAnswer> => {
  const startedMs = deps.clock.nowMs();
  deps.hooks.started(call);
  try {
    const bytes = await runUnary(method, request, call, deps);
    deps.hooks.ended(call, undefined, deps.clock.nowMs() - startedMs);
    return { kind: "bytes", bytes };
  } catch (thrown) {
    const error = answerError(thrown, call, deps.log);
    deps.hooks.ended(call, error, deps.clock.nowMs() - startedMs);
    return { kind: "error", error };
  }
};

const runUnary = async (method: UnaryMethod, bytes: Buffer, call: RpcCall, deps: RpcDeps): Promise<Uint8Array> => {
  deps.hooks.admit(call);
  const run = openRequest(method, bytes);
  // A handler that ignores its signal must not keep the caller.
  return orAborted(run(call), call.signal);
};

const openRequest = <Run>(method: RequestOpener<Run>, bytes: Buffer): Run => {
  try {
    return method.open(bytes);
  } catch (cause) {
    if (cause instanceof ProviderError) throw cause;
    throw new ProviderError("FIELD_INVALID", `The request of ${method.name} is not a valid protobuf message`, {
      cause,
    });
  }
};

const serverStreamHandler =
  (method: ServerStreamMethod, deps: RpcDeps): handleServerStreamingCall<Buffer, Buffer> =>
  (stream) => {
    const scope = enter(stream, method, deps);
    void runStream(stream, scope, deps, () => {
      deps.hooks.admit(scope.call);
      return openRequest(method, stream.request)(scope.call);
    });
  };

const duplexHandler =
  (method: DuplexMethod, deps: RpcDeps): handleBidiStreamingCall<Buffer, Buffer> =>
  (stream) => {
    const scope = enter(stream, method, deps);
    void runStream(stream, scope, deps, () => {
      deps.hooks.admit(scope.call);
      return method.run(stream, scope.call);
    });
  };

const runStream = async (
  stream: ServerWritableStream<Buffer, Buffer> | ServerDuplexStream<Buffer, Buffer>,
  scope: CallScope,
  deps: RpcDeps,
  open: () => AsyncIterable<Uint8Array>,
): Promise<void> => {
  const { call } = scope;
  const startedMs = deps.clock.nowMs();
  deps.hooks.started(call);
  try {
    await pump(open, stream, call.signal, deps.slowConsumerMs);
    deps.hooks.ended(call, undefined, deps.clock.nowMs() - startedMs);
    stream.end(trailersOf(call));
  } catch (thrown) {
    const error = answerError(thrown, call, deps.log);
    deps.hooks.ended(call, error, deps.clock.nowMs() - startedMs);
    stream.emit("error", error);
  } finally {
    scope.close();
  }
};
