import { randomUUID } from "node:crypto";
import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { codeNames } from "@cloudwire/proto/codes";
import {
  Client,
  type ClientReadableStream,
  type CallOptions as GrpcCallOptions,
  Metadata,
  type ServiceError,
  credentials,
} from "@grpc/grpc-js";
import type { Cluster } from "../definition/common.ts";
import { sdkVersion } from "../server/version.ts";
import { toErrorOutcome } from "./error-outcome.ts";

const { methods, fullName } = CloudProviderDefinition;
type Methods = typeof methods;

/** What may be said about one call. */
export interface ProviderCallOptions {
  /** Longest time to wait, on the clocks of the machine and of the provider. Default: 60 s, as the controller's for changes; streams have none. */
  readonly deadlineMs?: number | undefined;
  /** Gives the call up when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Headers of the call: `x-request-id`, `traceparent`. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/**
 * A call with one answer. The request is a message of the contract as a plain object; whatever is left out has its default, and
 * `context`, `change` and `client` are filled in. Rejects with {@link ProviderCallError}.
 */
export type UnaryCall<Name extends keyof Methods> = (
  request?: Parameters<Methods[Name]["requestType"]["fromPartial"]>[0],
  options?: ProviderCallOptions,
) => Promise<ReturnType<Methods[Name]["responseType"]["decode"]>>;

/** A call with a stream of answers, which leaving the loop ends. Throws {@link ProviderCallError}. */
export type StreamCall<Name extends keyof Methods> = (
  request?: Parameters<Methods[Name]["requestType"]["fromPartial"]>[0],
  options?: ProviderCallOptions,
) => AsyncGenerator<ReturnType<Methods[Name]["responseType"]["decode"]>>;

/** Calls a provider as the controller does: every RPC of the contract. */
export interface ProviderClient {
  /** The handshake: capabilities, limits, prefixes. */
  readonly getProviderInfo: UnaryCall<"getProviderInfo">;
  /** How the provider and its cloud are. */
  readonly getProviderStatus: UnaryCall<"getProviderStatus">;
  /** Looks machines up. */
  readonly batchGetInstances: UnaryCall<"batchGetInstances">;
  /** One page of all machines. */
  readonly listInstances: UnaryCall<"listInstances">;
  /** Changes of machines as they happen. */
  readonly watchInstances: StreamCall<"watchInstances">;
  /** One load balancer as it is. */
  readonly getLoadBalancer: UnaryCall<"getLoadBalancer">;
  /** One page of the cluster's load balancers. */
  readonly listLoadBalancers: UnaryCall<"listLoadBalancers">;
  /** Makes or changes a load balancer; `ensureRequest()` makes a valid request. */
  readonly ensureLoadBalancer: UnaryCall<"ensureLoadBalancer">;
  /** Changes the nodes of a load balancer. */
  readonly updateLoadBalancerNodes: UnaryCall<"updateLoadBalancerNodes">;
  /** Deletes a load balancer. */
  readonly deleteLoadBalancer: UnaryCall<"deleteLoadBalancer">;
  /** Changes of load balancers as they happen. */
  readonly watchLoadBalancers: StreamCall<"watchLoadBalancers">;
  /** Uploads a piece of a set of nodes. */
  readonly applyNodeSet: UnaryCall<"applyNodeSet">;
  /** One page of the cluster's routes. */
  readonly listRoutes: UnaryCall<"listRoutes">;
  /** Makes routes. */
  readonly batchEnsureRoutes: UnaryCall<"batchEnsureRoutes">;
  /** Deletes routes. */
  readonly batchDeleteRoutes: UnaryCall<"batchDeleteRoutes">;
  /** Looks volumes up. */
  readonly batchGetVolumes: UnaryCall<"batchGetVolumes">;
  /** Ends the connection. */
  readonly close: () => void;
}

/** How a client presents itself. */
export interface ProviderClientOptions {
  /** The cluster in whose name it calls. Default: `test-cluster`. */
  readonly cluster?: Cluster | undefined;
}

const defaultDeadlineMs = 60_000;

/** The client in the handshake. */
const caller = { name: "provider-sdk/testing", version: sdkVersion, contractMajor: 1 };

/** Connects to a provider in this process or another: `unix:///run/cloud-provider/provider.sock`, `127.0.0.1:9443` without TLS. */
export const connectToProvider = (address: string, options: ProviderClientOptions = {}): ProviderClient => {
  const client = new Client(address, credentials.createInsecure(), {
    // A connection of its own: nothing that one test does to it is seen by another.
    "grpc.use_local_subchannel_pool": 1,
    "grpc.max_receive_message_length": -1,
  });
  const { cluster = { id: "test-cluster", name: "test" } } = options;
  // Asked each time: the scope is not known at once, and may change.
  const nothing = async () => ({});
  const getProviderStatus = unary(client, methods.getProviderStatus, nothing);
  const fillIn = async () => {
    const { scopeId } = await getProviderStatus();
    return { context: { cluster, scopeId }, change: { requestId: randomUUID() } };
  };
  return {
    getProviderInfo: unary(client, methods.getProviderInfo, async () => ({ client: caller, cluster })),
    getProviderStatus,
    batchGetInstances: unary(client, methods.batchGetInstances, fillIn),
    listInstances: unary(client, methods.listInstances, fillIn),
    watchInstances: stream(client, methods.watchInstances, fillIn),
    getLoadBalancer: unary(client, methods.getLoadBalancer, fillIn),
    listLoadBalancers: unary(client, methods.listLoadBalancers, fillIn),
    ensureLoadBalancer: unary(client, methods.ensureLoadBalancer, fillIn),
    updateLoadBalancerNodes: unary(client, methods.updateLoadBalancerNodes, fillIn),
    deleteLoadBalancer: unary(client, methods.deleteLoadBalancer, fillIn),
    watchLoadBalancers: stream(client, methods.watchLoadBalancers, fillIn),
    applyNodeSet: unary(client, methods.applyNodeSet, fillIn),
    listRoutes: unary(client, methods.listRoutes, fillIn),
    batchEnsureRoutes: unary(client, methods.batchEnsureRoutes, fillIn),
    batchDeleteRoutes: unary(client, methods.batchDeleteRoutes, fillIn),
    batchGetVolumes: unary(client, methods.batchGetVolumes, fillIn),
    close: () => client.close(),
  };
};

/** What of a request is not the test's business. */
type FillIn = () => Promise<object>;

/** A method as a caller needs it. Methods, not properties, so that any message will do: what a caller may give is `UnaryCall`'s business. */
interface CallableMethod<Request, Response> {
  readonly name: string;
  readonly requestType: { fromPartial(value: object): Request; encode(message: Request): { finish(): Uint8Array } };
  readonly responseType: { decode(bytes: Uint8Array): Response };
}

const unary =
  <Request, Response>(client: Client, method: CallableMethod<Request, Response>, fillIn: FillIn) =>
  async (request?: object, options: ProviderCallOptions = {}): Promise<Response> => {
    const message = method.requestType.fromPartial({ ...(await fillIn()), ...request });
    options.signal?.throwIfAborted();
    const answer = Promise.withResolvers<Response>();
    const call = client.makeUnaryRequest(
      pathOf(method),
      serializer(method),
      deserializer(method),
      message,
      toMetadata(options.metadata),
      toCallOptions(options.deadlineMs ?? defaultDeadlineMs),
      (error, response) => {
        if (error) answer.reject(new ProviderCallError(method.name, error));
        else if (response !== undefined) answer.resolve(response);
      },
    );
    const giveUp = () => call.cancel();
    options.signal?.addEventListener("abort", giveUp, { once: true });
    return answer.promise.finally(() => options.signal?.removeEventListener("abort", giveUp));
  };

const stream = <Request, Response>(client: Client, method: CallableMethod<Request, Response>, fillIn: FillIn) =>
  async function* (request?: object, options: ProviderCallOptions = {}): AsyncGenerator<Response> {
    const message = method.requestType.fromPartial({ ...(await fillIn()), ...request });
    options.signal?.throwIfAborted();
    const call: ClientReadableStream<Response> & AsyncIterable<Response> = client.makeServerStreamRequest(
      pathOf(method),
      serializer(method),
      deserializer(method),
      message,
      toMetadata(options.metadata),
      toCallOptions(options.deadlineMs),
    );
    const giveUp = () => call.cancel();
    options.signal?.addEventListener("abort", giveUp, { once: true });
    try {
      yield* call;
    } catch (error) {
      throw isServiceError(error) ? new ProviderCallError(method.name, error) : error;
    } finally {
      options.signal?.removeEventListener("abort", giveUp);
      call.cancel();
    }
  };

const pathOf = ({ name }: { readonly name: string }): string => `/${fullName}/${name}`;

const serializer =
  <Request, Response>({ requestType }: CallableMethod<Request, Response>) =>
  (message: Request): Buffer =>
    Buffer.from(requestType.encode(message).finish());

const deserializer =
  <Request, Response>({ responseType }: CallableMethod<Request, Response>) =>
  (bytes: Buffer): Response =>
    responseType.decode(bytes);

const toMetadata = (values: Readonly<Record<string, string>> = {}): Metadata => {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(values)) metadata.set(key, value);
  return metadata;
};

const toCallOptions = (deadlineMs: number | undefined): GrpcCallOptions =>
  deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs };

const isServiceError = (error: unknown): error is ServiceError =>
  error instanceof Error && "metadata" in error && error.metadata instanceof Metadata;

/** How a call to a provider failed, as the controller would see it. */
export class ProviderCallError extends Error {
  override readonly name = "ProviderCallError";
  /** Name of the gRPC code: `INVALID_ARGUMENT`. */
  readonly code: string;
  /** Reason of the contract's table or the vendor's own; undefined: the transport failed, not the provider. */
  readonly reason: string | undefined;
  /** Whose reason it is: `cloudprovider.v1`, or the vendor's DNS name. */
  readonly domain: string | undefined;
  /** Facts beside the reason: `limit`, `owner`, `cloud_request_ids`. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Paths of the fields of the request that were refused, in proto spelling. */
  readonly fields: readonly string[];
  /** How long the caller is to wait before it retries. */
  readonly retryAfterMs: number | undefined;

  /** Reads what grpc-js threw; `method` is the RPC that was called. */
  constructor(method: string, cause: ServiceError) {
    const seen = toErrorOutcome(cause);
    const code = codeNames[cause.code] ?? String(cause.code);
    super(`${method}: ${code}${seen.reason === undefined ? "" : ` ${seen.reason}`}: ${seen.message}`, { cause });
    this.code = code;
    this.reason = seen.reason;
    this.domain = seen.domain;
    this.metadata = seen.metadata;
    this.fields = seen.fields;
    this.retryAfterMs = seen.retryAfterMs;
  }
}
