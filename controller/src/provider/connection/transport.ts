import { Client, connectivityState, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import type { ChannelParts } from "./address.ts";
import { errorOfCall } from "../convert/errors.ts";
import { type Answer, MAX_RESPONSE_BYTES, heldResponse } from "../convert/response.ts";
import { type Breach, type BreachSink, ContractBreachError } from "../model/breach.ts";
import { ProviderError } from "../model/errors.ts";
import type { RecordedCall, Rpc, RpcCaller, RpcOptions, WireStatus, WireRecorder } from "../convert/methods.ts";
import { messageOf } from "../../util/errors.ts";
import { StringCache } from "../../util/string-cache.ts";

/** Longest deadline: longer ones overflow in some servers (proto/README.md TIM-1). */
const MAX_TIMEOUT_MS = 3_600_000;

export interface TransportOptions {
  readonly provider: string;
  readonly channel: ChannelParts;
  /** Sent with every call as `x-controller-version`. */
  readonly version: string;
  /** Records each call. @default none */
  readonly recorder?: WireRecorder | undefined;
  /** Receives the violations of the contract. @default none */
  readonly breaches?: BreachSink | undefined;
}

/** One connection to one provider. Reconnects automatically. */
export class GrpcTransport implements RpcCaller {
  readonly #options: TransportOptions;
  readonly #client: Client;
  /** Zones, types and labels repeat on every instance, and names within an instance; thousands of instances are cached. */
  readonly #strings = new StringCache();
  #inFlight = 0;
  #isRetiring = false;

  constructor(options: TransportOptions) {
    const { target, credentials, options: channelOptions } = options.channel;
    this.#options = options;
    this.#client = new Client(target, credentials, channelOptions);
  }

  unary<Request, Response>(rpc: Rpc<Request, Response>, request: Request, options: RpcOptions): Promise<Response> {
    const { signal } = options;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(this.#cancelled(rpc.name, options));
      const timeoutMs = Math.min(options.timeoutMs ?? rpc.timeoutMs, MAX_TIMEOUT_MS);
      const recorded = this.#options.recorder?.begin(rpc, request, { requestId: options.requestId, timeoutMs });
      const call = this.#client.makeUnaryRequest(
        rpc.path,
        (message: Request) => Buffer.from(rpc.request.encode(message).finish()),
        undecoded,
        request,
        this.#metadata(options),
        { deadline: Date.now() + timeoutMs },
        (error, bytes) => {
          signal.removeEventListener("abort", onAbort);
          this.#ended();
          try {
            if (error !== null) throw this.#failure(rpc.name, error, options);
            if (bytes === undefined) throw this.#failure(rpc.name, new Error("the response has no message"), options);
            resolve(this.#accepted(rpc, bytes, options, recorded));
          } catch (failure) {
            reject(failure);
          } finally {
            recorded?.end(statusOf(error, signal));
          }
        },
      );
      this.#inFlight++;
      const onAbort = (): void => call.cancel();
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Messages of a server stream until it ends, fails or the signal aborts. Contract streams never end with success. */
  async *stream<Request, Response>(
    rpc: Rpc<Request, Response>,
    request: Request,
    options: RpcOptions,
  ): AsyncGenerator<Response, void, undefined> {
    const { signal } = options;
    if (signal.aborted) throw this.#cancelled(rpc.name, options);
    const recorded = this.#options.recorder?.begin(rpc, request, {
      requestId: options.requestId,
      timeoutMs: undefined,
    });
    let end = LEFT;
    const call = this.#client.makeServerStreamRequest(
      rpc.path,
      (message: Request) => Buffer.from(rpc.request.encode(message).finish()),
      undecoded,
      request,
      this.#metadata(options),
      {},
    );
    const onAbort = (): void => call.cancel();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      for await (const bytes of call) {
        if (bytes instanceof Uint8Array) yield this.#accepted(rpc, bytes, options, recorded);
      }
      end = statusOf(null, signal);
    } catch (error) {
      end = statusOf(error, signal);
      throw error instanceof ProviderError ? error : this.#failure(rpc.name, error, options);
    } finally {
      signal.removeEventListener("abort", onAbort);
      call.cancel();
      recorded?.end(end);
    }
  }

  /** True once connected; false after `timeoutMs`. Starts connecting if necessary. */
  connected(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#client.waitForReady(Date.now() + timeoutMs, (error) => resolve(error === undefined));
    });
  }

  /** Calls `notify` once when the connection breaks; immediately when not connected. */
  onDisconnect(notify: () => void): void {
    const channel = this.#client.getChannel();
    if (channel.getConnectivityState(false) !== connectivityState.READY) return notify();
    channel.watchConnectivityState(connectivityState.READY, Number.POSITIVE_INFINITY, () => notify());
  }

  /** Calls in flight may fail. */
  close(): void {
    this.#client.close();
  }

  /** Closes after the calls in flight have ended. No further calls are allowed. */
  retire(): void {
    this.#isRetiring = true;
    if (this.#inFlight === 0) this.close();
  }

  /** The response as far as it keeps to the contract. Throws if the whole response violates it. */
  #accepted<Response>(
    rpc: Answer<Response>,
    bytes: Uint8Array,
    { requestId, received }: RpcOptions,
    recorded: RecordedCall<Response> | undefined,
  ): Response {
    const held = heldResponse(rpc, bytes, { nowMs: Date.now(), strings: this.#strings });
    if (held.kind === "broken") throw this.#breach(held.breach, requestId);
    for (const breach of held.breaches) this.#options.breaches?.(breach);
    received?.({ sizeBytes: held.sizeBytes, isPartial: held.breaches.length > 0 });
    recorded?.message(held.response, bytes);
    return held.response;
  }

  #breach(breach: Breach, requestId: string): ContractBreachError {
    this.#options.breaches?.(breach);
    return new ContractBreachError(this.#options.provider, breach, requestId);
  }

  #ended(): void {
    this.#inFlight--;
    if (this.#isRetiring && this.#inFlight === 0) this.close();
  }

  #metadata({ requestId, traceparent }: RpcOptions): Metadata {
    const metadata = new Metadata();
    metadata.set("x-request-id", requestId);
    metadata.set("traceparent", traceparent);
    metadata.set("x-controller-version", this.#options.version);
    return metadata;
  }

  #failure(name: string, error: unknown, { signal, requestId }: RpcOptions): ProviderError {
    if (isTooLargeHere(error)) {
      const description = `has more than ${MAX_RESPONSE_BYTES} bytes`;
      return this.#breach({ method: name, rule: "size", field: "", description }, requestId);
    }
    const what = `${this.#options.provider} ${name}`;
    const cause: unknown = signal.aborted ? signal.reason : error;
    if (!isServiceError(error)) {
      return new ProviderError({ code: "INTERNAL", message: `${what}: ${messageOf(error)}`, requestId }, { cause });
    }
    const { code, details: message } = error;
    return errorOfCall({ what, code, message, statusDetails: statusDetails(error), requestId, cause });
  }

  #cancelled(name: string, { signal, requestId }: RpcOptions): ProviderError {
    const message = `${this.#options.provider} ${name}: canceled before it was sent`;
    return new ProviderError({ code: "CANCELLED", message, requestId }, { cause: signal.reason });
  }
}

/** Decoded by us, so that an error of ours is not one of the transport. */
function undecoded(bytes: Buffer): Buffer {
  return bytes;
}

/** @grpc/grpc-js refused the message. A status from the provider has headers. */
function isTooLargeHere(error: unknown): boolean {
  return (
    isServiceError(error) &&
    error.code === status.RESOURCE_EXHAUSTED &&
    Object.keys(error.metadata.getMap()).length === 0
  );
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "metadata" in error && error.metadata instanceof Metadata && "details" in error;
}

function statusDetails(error: ServiceError): Uint8Array | undefined {
  const [details] = error.metadata.get("grpc-status-details-bin");
  return typeof details === "object" ? details : undefined;
}

/** The status of a stream that its reader has left. */
const LEFT: WireStatus = { code: status.CANCELLED, message: "left by its reader", details: undefined, isGivenUp: true };

/** null: success. */
function statusOf(error: unknown, { aborted: isGivenUp }: AbortSignal): WireStatus {
  if (error === null) return { code: status.OK, message: "", details: undefined, isGivenUp };
  if (!isServiceError(error)) {
    return { code: status.INTERNAL, message: messageOf(error), details: undefined, isGivenUp };
  }
  return { code: error.code, message: error.details, details: statusDetails(error), isGivenUp };
}
