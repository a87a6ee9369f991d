import { Client, connectivityState, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import type { ChannelParts } from "./address.ts";
import { errorOfCall } from "../convert/errors.ts";
import { ProviderError } from "../model/errors.ts";
import type { Rpc, RpcCaller, RpcOptions, WireStatus, WireRecorder } from "../convert/methods.ts";
import { messageOf } from "../../util/errors.ts";
import { InterningReader, StringCache } from "../../util/string-cache.ts";

/** Longest deadline: longer ones overflow in some servers (proto/README.md TIM-1). */
const MAX_TIMEOUT_MS = 3_600_000;

export interface TransportOptions {
  readonly provider: string;
  readonly channel: ChannelParts;
  /** Sent with every call as `x-controller-version`. */
  readonly version: string;
  /** Records each call. @default none */
  readonly recorder?: WireRecorder | undefined;
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
        (bytes) => {
          const message = rpc.response.decode(new InterningReader(bytes, this.#strings));
          recorded?.message(message, bytes);
          return message;
        },
        request,
        this.#metadata(options),
        { deadline: Date.now() + timeoutMs },
        (error, response) => {
          signal.removeEventListener("abort", onAbort);
          this.#ended();
          recorded?.end(statusOf(error, signal));
          if (error !== null) reject(this.#failure(rpc.name, error, options));
          else if (response === undefined)
            reject(this.#failure(rpc.name, new Error("the response has no message"), options));
          else resolve(response);
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
      (bytes) => {
        const message = rpc.response.decode(new InterningReader(bytes, this.#strings));
        recorded?.message(message, bytes);
        return message;
      },
      request,
      this.#metadata(options),
      {},
    );
    const onAbort = (): void => call.cancel();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      for await (const message of call) yield message;
      end = statusOf(null, signal);
    } catch (error) {
      end = statusOf(error, signal);
      throw this.#failure(rpc.name, error, options);
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
