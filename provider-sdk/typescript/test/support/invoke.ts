import { type Client, type ClientReadableStream, Metadata, type ServiceError } from "@grpc/grpc-js";
import { type ErrorOutcome, toErrorOutcome } from "../../src/testing/error-outcome.ts";

/** What a call came to. */
export type Outcome<Response> =
  | { readonly kind: "ok"; readonly response: Response; readonly trailers: Metadata }
  | ErrorOutcome;

/** A method of a generated definition, as a caller needs it. */
export interface CallableMethod<Partial, Request, Response> {
  readonly name: string;
  readonly requestType: { fromPartial(value: Partial): Request; encode(message: Request): { finish(): Uint8Array } };
  readonly responseType: { decode(bytes: Uint8Array): Response };
}

/** How to call. */
export interface InvokeOptions {
  readonly service?: string;
  readonly deadlineMs?: number;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const defaultService = "cloudprovider.v1.CloudProvider";

const toMetadata = (values: Readonly<Record<string, string>> = {}): Metadata => {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(values)) metadata.set(key, value);
  return metadata;
};

/** Calls a unary method and returns the outcome. */
export const invoke = <Partial, Request, Response>(
  client: Client,
  method: CallableMethod<Partial, Request, Response>,
  request: Partial,
  options: InvokeOptions = {},
): Promise<Outcome<Response>> =>
  new Promise((resolve) => {
    const seen: { response?: Response; error?: ServiceError } = {};
    const call = client.makeUnaryRequest(
      `/${options.service ?? defaultService}/${method.name}`,
      (message: Request) => Buffer.from(method.requestType.encode(message).finish()),
      (bytes: Buffer) => method.responseType.decode(bytes),
      method.requestType.fromPartial(request),
      toMetadata(options.metadata),
      options.deadlineMs === undefined ? {} : { deadline: Date.now() + options.deadlineMs },
      (error, response) => {
        if (error) seen.error = error;
        if (response !== undefined) seen.response = response;
      },
    );
    options.signal?.addEventListener("abort", () => call.cancel(), { once: true });
    call.on("status", (status) => {
      queueMicrotask(() => {
        if (seen.error) resolve(toErrorOutcome(seen.error));
        else if (seen.response === undefined) throw new TypeError("a call ended with OK and without answer");
        else resolve({ kind: "ok", response: seen.response, trailers: status.metadata });
      });
    });
  });

/** Calls a unary method that must succeed. */
export const invokeOk = async <Partial, Request, Response>(
  ...args: Parameters<typeof invoke<Partial, Request, Response>>
): Promise<Response> => {
  const outcome = await invoke(...args);
  if (outcome.kind === "ok") return outcome.response;
  throw new Error(`call failed: ${outcome.code} ${outcome.reason} ${outcome.message}`);
};

/** Opens a stream of answers. */
export const openStream = <Partial, Request, Response>(
  client: Client,
  method: CallableMethod<Partial, Request, Response>,
  request: Partial,
  options: InvokeOptions = {},
): ClientReadableStream<Response> =>
  client.makeServerStreamRequest(
    `/${options.service ?? defaultService}/${method.name}`,
    (message: Request) => Buffer.from(method.requestType.encode(message).finish()),
    (bytes: Buffer) => method.responseType.decode(bytes),
    method.requestType.fromPartial(request),
    toMetadata(options.metadata),
  );

/** How a stream ended. */
export const streamEnd = (stream: ClientReadableStream<unknown>): Promise<ErrorOutcome | "ok"> =>
  new Promise((resolve) => {
    stream.on("error", (error: ServiceError) => resolve(toErrorOutcome(error)));
    stream.on("end", () => resolve("ok"));
  });
