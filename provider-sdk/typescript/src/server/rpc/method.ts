import { ProviderError } from "../../results/errors.ts";

/** What the adapter needs of a generated message type. Methods, so that types with narrower messages fit. */
export interface RequestCodec<Request> {
  decode(bytes: Uint8Array): Request;
}

/** The partial form is what handlers answer: a literal that lacks a field must not fail while it is written. */
export interface ResponseCodec<Partial, Response> {
  fromPartial(value: Partial): Response;
  encode(message: Response): { finish(): Uint8Array };
}

/** One method of a generated generic definition. */
export interface MethodDefinition<Request, Partial, Response> {
  readonly name: string;
  readonly requestType: RequestCodec<Request>;
  readonly responseType: ResponseCodec<Partial, Response>;
  readonly options: { readonly idempotencyLevel?: string };
}

/** Facts of one call, for handlers. */
export interface RpcCall {
  /** Method name, `EnsureLoadBalancer`. */
  readonly method: string;
  /** True: the method may change something. */
  readonly mutation: boolean;
  readonly requestId: string;
  readonly traceparent: string | undefined;
  /** Aborted at the deadline, when the caller gives up, and when the server is forced down. */
  readonly signal: AbortSignal;
  /** Epoch milliseconds. */
  readonly deadlineMs: number;
}

interface RpcMethodBase {
  readonly name: string;
  readonly mutation: boolean;
}

/** Reads a request and answers what runs its handler; throws when the bytes are no such request. */
export interface RequestOpener<Run> extends RpcMethodBase {
  readonly open: (bytes: Uint8Array) => Run;
}

/** One request, one answer. */
export interface UnaryMethod extends RequestOpener<(call: RpcCall) => Promise<Uint8Array>> {
  readonly kind: "unary";
}

/** One request, a stream of answers. */
export interface ServerStreamMethod extends RequestOpener<(call: RpcCall) => AsyncIterable<Uint8Array>> {
  readonly kind: "serverStream";
}

/** Streams both ways. */
export interface DuplexMethod extends RpcMethodBase {
  readonly kind: "duplex";
  readonly run: (requests: AsyncIterable<Uint8Array>, call: RpcCall) => AsyncIterable<Uint8Array>;
}

/** A method with its handler, types forgotten. */
export type RpcMethod = UnaryMethod | ServerStreamMethod | DuplexMethod;

/** A service ready to be served. */
export interface RpcService {
  readonly fullName: string;
  readonly methods: readonly RpcMethod[];
}

const facts = (method: { readonly name: string; readonly options: { readonly idempotencyLevel?: string } }) => ({
  name: method.name,
  mutation: method.options.idempotencyLevel !== "NO_SIDE_EFFECTS",
});

/** Binds a handler to a unary method. */
export const unary = <Request, Partial, Response>(
  method: MethodDefinition<Request, Partial, Response>,
  handler: (request: Request, call: RpcCall) => Promise<Partial> | Partial,
): UnaryMethod => ({
  ...facts(method),
  kind: "unary",
  open: (bytes) => {
    const request = method.requestType.decode(bytes);
    return async (call) => encode(method.responseType, await handler(request, call));
  },
});

/** Binds a handler to a server-streaming method. */
export const serverStream = <Request, Partial, Response>(
  method: MethodDefinition<Request, Partial, Response>,
  handler: (request: Request, call: RpcCall) => AsyncIterable<Partial>,
): ServerStreamMethod => ({
  ...facts(method),
  kind: "serverStream",
  open: (bytes) => {
    const request = method.requestType.decode(bytes);
    return (call) => encodeEach(method.responseType, handler(request, call));
  },
});

/** Binds a handler to a method that streams both ways. */
export const duplex = <Request, Partial, Response>(
  method: MethodDefinition<Request, Partial, Response>,
  handler: (requests: AsyncIterable<Request>, call: RpcCall) => AsyncIterable<Partial>,
): DuplexMethod => ({
  ...facts(method),
  kind: "duplex",
  run: (requests, call) => encodeEach(method.responseType, handler(decodeEach(method.requestType, requests), call)),
});

const encode = <Partial, Response>(codec: ResponseCodec<Partial, Response>, value: Partial): Uint8Array =>
  codec.encode(codec.fromPartial(value)).finish();

async function* encodeEach<Partial, Response>(
  codec: ResponseCodec<Partial, Response>,
  values: AsyncIterable<Partial>,
): AsyncGenerator<Uint8Array> {
  for await (const value of values) yield encode(codec, value);
}

async function* decodeEach<Request>(
  codec: RequestCodec<Request>,
  messages: AsyncIterable<Uint8Array>,
): AsyncGenerator<Request> {
  for await (const bytes of messages) yield codec.decode(bytes);
}

/** A method of a capability that is not claimed: refused whatever the request says. */
export const absentMethod = (method: {
  readonly name: string;
  readonly responseStream: boolean;
  readonly options: { readonly idempotencyLevel?: string };
}): RpcMethod => {
  const refuse = (): never => {
    throw new ProviderError("CAPABILITY_ABSENT", `This provider does not serve ${method.name}; its handshake says so`);
  };
  const facts = { name: method.name, mutation: method.options.idempotencyLevel !== "NO_SIDE_EFFECTS" };
  return method.responseStream
    ? { ...facts, kind: "serverStream", open: refuse }
    : { ...facts, kind: "unary", open: refuse };
};
