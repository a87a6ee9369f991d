import { rm } from "node:fs/promises";
import { CloudProviderService } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import {
  type GetProviderInfoRequest,
  GetProviderInfoResponse,
  type GetProviderStatusRequest,
  GetProviderStatusResponse,
} from "@cloudwire/proto/cloudprovider/v1/identity";
import {
  type BatchGetInstancesRequest,
  BatchGetInstancesResponse,
  type InstanceResult,
  type ListInstancesRequest,
  ListInstancesResponse,
  type WatchInstancesRequest,
  type WatchInstancesResponse,
} from "@cloudwire/proto/cloudprovider/v1/instance";
import {
  type ApplyNodeSetRequest,
  ApplyNodeSetResponse,
  type DeleteLoadBalancerRequest,
  DeleteLoadBalancerResponse,
  type EnsureLoadBalancerRequest,
  EnsureLoadBalancerResponse,
  type GetLoadBalancerRequest,
  GetLoadBalancerResponse,
  type UpdateLoadBalancerNodesRequest,
  UpdateLoadBalancerNodesResponse,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import {
  BatchDeleteRoutesResponse,
  BatchEnsureRoutesResponse,
  type BatchDeleteRoutesRequest,
  type BatchEnsureRoutesRequest,
  type Route,
  type RouteResult,
} from "@cloudwire/proto/cloudprovider/v1/route";
import { Any } from "@cloudwire/proto/google/protobuf/any";
import { ErrorInfo, RetryInfo } from "@cloudwire/proto/google/rpc/error_details";
import { Status } from "@cloudwire/proto/google/rpc/status";
import { type ErrorReason, errorReasons } from "@cloudwire/proto/reasons";
import { durationToProto } from "../../../src/provider/convert/scalars.ts";
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from "@grpc/grpc-js";

/** What the provider answers; a test writes what it needs, the rest is a healthy provider of three machines' names. */
export interface ProviderScript {
  getProviderInfo(request: GetProviderInfoRequest): GetProviderInfoResponse | Promise<GetProviderInfoResponse>;
  getProviderStatus(request: GetProviderStatusRequest): GetProviderStatusResponse | Promise<GetProviderStatusResponse>;
  batchGetInstances(request: BatchGetInstancesRequest): BatchGetInstancesResponse | Promise<BatchGetInstancesResponse>;
  listInstances(request: ListInstancesRequest): ListInstancesResponse | Promise<ListInstancesResponse>;
  getLoadBalancer(request: GetLoadBalancerRequest): GetLoadBalancerResponse | Promise<GetLoadBalancerResponse>;
  ensureLoadBalancer(
    request: EnsureLoadBalancerRequest,
  ): EnsureLoadBalancerResponse | Promise<EnsureLoadBalancerResponse>;
  deleteLoadBalancer(
    request: DeleteLoadBalancerRequest,
  ): DeleteLoadBalancerResponse | Promise<DeleteLoadBalancerResponse>;
  updateLoadBalancerNodes(request: UpdateLoadBalancerNodesRequest): UpdateLoadBalancerNodesResponse;
  applyNodeSet(request: ApplyNodeSetRequest): ApplyNodeSetResponse;
  batchEnsureRoutes(request: BatchEnsureRoutesRequest): BatchEnsureRoutesResponse;
  batchDeleteRoutes(request: BatchDeleteRoutesRequest): BatchDeleteRoutesResponse;
  /** Ends the stream with the error it throws. */
  watchInstances(request: WatchInstancesRequest): AsyncIterable<WatchInstancesResponse>;
}

/** A call as it arrived. */
export interface SeenCall {
  readonly method: keyof ProviderScript;
  readonly request: unknown;
  readonly metadata: Metadata;
  /** Milliseconds the caller left for it. */
  readonly timeoutMs: number;
}

/** A status with or without the contract's details. */
export class StatusFailure extends Error {
  readonly code: number;
  readonly metadata = new Metadata();

  constructor(code: number, message: string, details?: Uint8Array) {
    super(message);
    this.code = code;
    if (details !== undefined) this.metadata.set("grpc-status-details-bin", Buffer.from(details));
  }
}

/** An error as the contract wants it. */
export function contractFailure(
  reason: ErrorReason,
  message: string,
  retryAfterMs?: number,
  metadata: Readonly<Record<string, string>> = {},
): StatusFailure {
  const { code } = errorReasons[reason];
  const info = ErrorInfo.encode(ErrorInfo.fromPartial({ reason, domain: "cloudprovider.v1", metadata })).finish();
  const retry = RetryInfo.encode(RetryInfo.fromPartial({ retryDelay: durationToProto(retryAfterMs ?? 0) })).finish();
  const details = [detail("ErrorInfo", info), ...(retryAfterMs === undefined ? [] : [detail("RetryInfo", retry)])];
  return new StatusFailure(code, message, Status.encode(Status.fromPartial({ code, message, details })).finish());
}

function detail(name: string, value: Uint8Array): Any {
  return Any.fromPartial({ typeUrl: `type.googleapis.com/google.rpc.${name}`, value: Buffer.from(value) });
}

/** A gRPC server on a Unix socket whose every answer the test writes. Remembers what it was asked. */
export class ScriptedProvider implements AsyncDisposable {
  readonly calls: SeenCall[] = [];
  readonly script: ProviderScript;
  readonly #server: Server;

  private constructor(script: ProviderScript) {
    this.script = script;
    this.#server = new Server({ "grpc.max_receive_message_length": 64 * 1024 * 1024 });
    this.#server.addService(CloudProviderService, {
      getProviderInfo: this.#unary("getProviderInfo", (request: GetProviderInfoRequest) =>
        this.script.getProviderInfo(request),
      ),
      getProviderStatus: this.#unary("getProviderStatus", (request: GetProviderStatusRequest) =>
        this.script.getProviderStatus(request),
      ),
      batchGetInstances: this.#unary("batchGetInstances", (request: BatchGetInstancesRequest) =>
        this.script.batchGetInstances(request),
      ),
      listInstances: this.#unary("listInstances", (request: ListInstancesRequest) =>
        this.script.listInstances(request),
      ),
      getLoadBalancer: this.#unary("getLoadBalancer", (request: GetLoadBalancerRequest) =>
        this.script.getLoadBalancer(request),
      ),
      ensureLoadBalancer: this.#unary("ensureLoadBalancer", (request: EnsureLoadBalancerRequest) =>
        this.script.ensureLoadBalancer(request),
      ),
      deleteLoadBalancer: this.#unary("deleteLoadBalancer", (request: DeleteLoadBalancerRequest) =>
        this.script.deleteLoadBalancer(request),
      ),
      updateLoadBalancerNodes: this.#unary("updateLoadBalancerNodes", (request: UpdateLoadBalancerNodesRequest) =>
        this.script.updateLoadBalancerNodes(request),
      ),
      applyNodeSet: this.#unary("applyNodeSet", (request: ApplyNodeSetRequest) => this.script.applyNodeSet(request)),
      batchEnsureRoutes: this.#unary("batchEnsureRoutes", (request: BatchEnsureRoutesRequest) =>
        this.script.batchEnsureRoutes(request),
      ),
      batchDeleteRoutes: this.#unary("batchDeleteRoutes", (request: BatchDeleteRoutesRequest) =>
        this.script.batchDeleteRoutes(request),
      ),
      watchInstances: (call: ServerWritableStream<WatchInstancesRequest, WatchInstancesResponse>) =>
        void this.#stream(call),
    });
  }

  /** Takes the place of whatever socket is at `path`. */
  static async start(path: string, script: Partial<ProviderScript> = {}): Promise<ScriptedProvider> {
    const provider = new ScriptedProvider({ ...healthyScript(), ...script });
    await rm(path, { force: true });
    await provider.#bind(`unix://${path}`, ServerCredentials.createInsecure());
    return provider;
  }

  /** On a port of loopback; answers where. */
  static async startTcp(
    credentials: ServerCredentials,
    script: Partial<ProviderScript> = {},
    port = 0,
  ): Promise<{ readonly provider: ScriptedProvider; readonly port: number }> {
    const provider = new ScriptedProvider({ ...healthyScript(), ...script });
    return { provider, port: await provider.#bind(`127.0.0.1:${port}`, credentials) };
  }

  #bind(address: string, credentials: ServerCredentials): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(address, credentials, (error, port) => (error === null ? resolve(port) : reject(error)));
    });
  }

  /** Requests of one method, in order. */
  callsOf(method: keyof ProviderScript): readonly SeenCall[] {
    return this.calls.filter((call) => call.method === method);
  }

  /** Connections break, as when the process dies. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown();
  }

  #unary<Request, Response>(
    method: keyof ProviderScript,
    answer: (request: Request) => Response | Promise<Response>,
  ): (call: ServerUnaryCall<Request, Response>, callback: sendUnaryData<Response>) => void {
    const reply = async (
      call: ServerUnaryCall<Request, Response>,
      callback: sendUnaryData<Response>,
    ): Promise<void> => {
      this.#note(method, call);
      try {
        callback(null, await answer(call.request));
      } catch (error) {
        callback(asFailure(error));
      }
    };
    return (call, callback) => void reply(call, callback);
  }

  async #stream(call: ServerWritableStream<WatchInstancesRequest, WatchInstancesResponse>): Promise<void> {
    this.#note("watchInstances", call);
    try {
      for await (const message of this.script.watchInstances(call.request)) {
        if (call.cancelled) return;
        call.write(message);
      }
      call.end();
    } catch (error) {
      call.emit("error", asFailure(error));
    }
  }

  #note(
    method: keyof ProviderScript,
    call: { readonly request: unknown; readonly metadata: Metadata; getDeadline(): number | Date },
  ): void {
    const timeoutMs = Number(call.getDeadline()) - Date.now();
    this.calls.push({ method, request: call.request, metadata: call.metadata, timeoutMs });
  }
}

function asFailure(error: unknown): StatusFailure {
  return error instanceof StatusFailure ? error : new StatusFailure(13, String(error));
}

/** Handshake of a healthy provider that serves instances and load balancers. */
export function providerInfo(
  parts: Parameters<typeof GetProviderInfoResponse.fromPartial>[0] = {},
): GetProviderInfoResponse {
  return GetProviderInfoResponse.fromPartial({
    name: "acme.example.com",
    version: "1.2.3",
    contractMajor: 1,
    services: ["cloudprovider.v1.CloudProvider"],
    bootId: "boot-1",
    providerIdPrefixes: ["acme://"],
    scopeId: "project-1",
    capabilities: {
      instances: { maxBatchSize: 200, lookupByName: true, shutdownState: true },
      loadBalancers: { updateNodes: true, needsNodePorts: true },
    },
    limits: { maxConcurrentCalls: 16, maxReceiveBytes: 4_194_304n, minStatusInterval: { nanos: 1_000_000 } },
    ...parts,
  });
}

export function providerStatus(
  parts: Parameters<typeof GetProviderStatusResponse.fromPartial>[0] = {},
): GetProviderStatusResponse {
  return GetProviderStatusResponse.fromPartial({ ready: true, bootId: "boot-1", scopeId: "project-1", ...parts });
}

/** One running machine for each node asked about. */
export function instancesFor(
  request: BatchGetInstancesRequest,
  parts: Parameters<typeof BatchGetInstancesResponse.fromPartial>[0] = {},
): BatchGetInstancesResponse {
  const results = request.nodes.map(({ name, providerId }) => instanceResult(name, providerId));
  return BatchGetInstancesResponse.fromPartial({ results, scopeId: "project-1", ...parts });
}

export function instanceResult(name: string, providerId = ""): InstanceResult {
  const [result] = BatchGetInstancesResponse.fromPartial({
    results: [
      {
        outcome: { $case: "instance", value: { providerId: providerId === "" ? `acme://${name}` : providerId, name } },
      },
    ],
  }).results;
  if (result === undefined) throw new Error("one result was given");
  return result;
}

/** The route is, or was, there. */
export function routeResult(route: Route): Parameters<typeof RouteResult.fromPartial>[0] {
  return { outcome: { $case: "route", value: route } };
}

function healthyScript(): ProviderScript {
  return {
    getProviderInfo: () => providerInfo(),
    getProviderStatus: () => providerStatus(),
    batchGetInstances: (request) => instancesFor(request),
    listInstances: () => ListInstancesResponse.fromPartial({ complete: true, scopeId: "project-1" }),
    getLoadBalancer: () => GetLoadBalancerResponse.fromPartial({}),
    ensureLoadBalancer: ({ service }) =>
      EnsureLoadBalancerResponse.fromPartial({ loadBalancer: { id: "lb-1", service, phase: 2 } }),
    deleteLoadBalancer: () => DeleteLoadBalancerResponse.fromPartial({ done: true }),
    updateLoadBalancerNodes: ({ service }) =>
      UpdateLoadBalancerNodesResponse.fromPartial({ loadBalancer: { id: "lb-1", service, phase: 2 } }),
    applyNodeSet: ({ targetFingerprint: fingerprint, targetCount: count }) =>
      ApplyNodeSetResponse.fromPartial({ fingerprint, count, committed: true }),
    batchEnsureRoutes: ({ routes }) => BatchEnsureRoutesResponse.fromPartial({ results: routes.map(routeResult) }),
    batchDeleteRoutes: ({ routes }) => BatchDeleteRoutesResponse.fromPartial({ results: routes.map(routeResult) }),
    async *watchInstances() {
      // Nothing ever happens.
    },
  };
}
