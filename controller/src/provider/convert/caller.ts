import type { Rpc } from "./methods.ts";

/** What goes with one call. */
export interface RpcOptions {
  readonly signal: AbortSignal;
  /** The same in our log and the provider's. */
  readonly requestId: string;
  readonly traceparent: string;
  /** @default the contract's for the RPC */
  readonly timeoutMs?: number;
}

/** Makes calls; everything that adds to a call (limits, retries, metrics) is one of these around another. */
export interface RpcCaller {
  /** Rejects with a ProviderError only. */
  unary<Request, Response>(rpc: Rpc<Request, Response>, request: Request, options: RpcOptions): Promise<Response>;
}

/** Who calls, on whose behalf, and which change it is: parts of every request that only convert/ looks into. */
export type { CallContext, ChangeContext } from "@cloudwire/proto/cloudprovider/v1/common";

/** How a call ended, as the transport saw it. */
export interface WireStatus {
  /** Canonical gRPC code; 0: with success. */
  readonly code: number;
  readonly message: string;
  /** Trailer `grpc-status-details-bin`, when there is one. */
  readonly details: Uint8Array | undefined;
  /** The caller gave up: what the provider would have answered is not known. */
  readonly isGivenUp: boolean;
}

/** One call under way. */
export interface TappedCall<Response> {
  /** One message of the answer, and the bytes that it came as. */
  message(response: Response, bytes: Uint8Array): void;
  end(status: WireStatus): void;
}

export interface TappedOptions {
  readonly requestId: string;
  /** undefined: a stream, which has no deadline. */
  readonly timeoutMs: number | undefined;
}

/** Sees what goes over the wire, each try by itself. Never throws, never waits. */
export interface WireTap {
  begin<Request, Response>(rpc: Rpc<Request, Response>, request: Request, options: TappedOptions): TappedCall<Response>;
}

/** What tells one call from all others, in our log, the provider's and the cloud's. */
export interface CallId {
  readonly requestId: string;
  /** W3C trace context of the call where nothing traces it. */
  readonly traceparent: string;
}

export interface CallIds {
  next(): CallId;
}

/** Length of a W3C span id in hexadecimal digits. */
const SPAN_DIGITS = 16;

/** Ids from random UUIDs; each with a trace of its own that nobody exports, so that no provider begins one. */
export function callIdsOf(newId: () => string): CallIds {
  return {
    next: () => {
      const requestId = newId();
      const digits = requestId.replaceAll("-", "");
      return { requestId, traceparent: `00-${digits}-${digits.slice(0, SPAN_DIGITS)}-00` };
    },
  };
}
