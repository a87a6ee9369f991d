import { rm } from "node:fs/promises";
import { CloudProviderService } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import type { GetProviderInfoResponse } from "@cloudwire/proto/cloudprovider/v1/identity";
import {
  type BatchGetInstancesRequest,
  type BatchGetInstancesResponse,
  InstanceResult,
} from "@cloudwire/proto/cloudprovider/v1/instance";
import {
  type DeleteLoadBalancerRequest,
  DeleteLoadBalancerResponse,
  type EnsureLoadBalancerRequest,
  EnsureLoadBalancerResponse,
  type GetLoadBalancerRequest,
  GetLoadBalancerResponse,
  ListLoadBalancersResponse,
  LoadBalancer,
  type NodeSelection,
  type ServiceRef,
  type UpdateLoadBalancerNodesRequest,
  UpdateLoadBalancerNodesResponse,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from "@grpc/grpc-js";
import {
  contractFailure,
  providerInfo,
  providerStatus,
  StatusFailure,
} from "../../support/provider/scripted-provider.ts";
import type { Balancer, Cloud } from "./cloud.ts";

const SCOPE = "project-1";
const POLL_AFTER = { seconds: 1n, nanos: 0 };
const ACTIVE = 2;
const PROVISIONING = 1;

export interface CloudProviderOptions {
  readonly bootId?: string;
  /** Parts of the handshake that differ from a provider of everything. */
  readonly info?: Parameters<typeof providerInfo>[0];
}

/** A provider of {@link Cloud} on a Unix socket; a new one may take its place as after a crash. */
export class CloudProvider implements AsyncDisposable {
  readonly #server = new Server({ "grpc.max_receive_message_length": 64 * 1024 * 1024 });

  static async start(cloud: Cloud, path: string, options: CloudProviderOptions = {}): Promise<CloudProvider> {
    const provider = new CloudProvider(cloud, options);
    await rm(path, { force: true });
    await new Promise<void>((resolve, reject) => {
      provider.#server.bindAsync(`unix://${path}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
    return provider;
  }

  private constructor(cloud: Cloud, { bootId = "boot-1", info }: CloudProviderOptions) {
    const handshake: GetProviderInfoResponse = providerInfo({ bootId, ...info });
    this.#server.addService(CloudProviderService, {
      getProviderInfo: unary(async () => handshake),
      getProviderStatus: unary(async () => providerStatus({ bootId })),
      batchGetInstances: unary((request: BatchGetInstancesRequest) =>
        cloud.serve("batchGetInstances", request.nodes.map(({ name }) => name).join(","), request, () =>
          instances(cloud, request),
        ),
      ),
      getLoadBalancer: unary((request: GetLoadBalancerRequest) =>
        cloud.serve("get", nameOf(request.service), request, () => get(cloud, request)),
      ),
      listLoadBalancers: unary((request: object) =>
        cloud.serve("list", "all", request, () =>
          ListLoadBalancersResponse.fromPartial({
            loadBalancers: [...cloud.balancers.values()].map((balancer) => show(balancer)),
            complete: true,
            scopeId: SCOPE,
          }),
        ),
      ),
      ensureLoadBalancer: unary((request: EnsureLoadBalancerRequest) =>
        request.change?.validateOnly === true
          ? cloud.serve("check", nameOf(request.service), request, () => check(cloud, request))
          : cloud.serve("ensure", nameOf(request.service), request, () => ensure(cloud, request)),
      ),
      updateLoadBalancerNodes: unary((request: UpdateLoadBalancerNodesRequest) =>
        cloud.serve("update", nameOf(request.service), request, () => update(cloud, request)),
      ),
      deleteLoadBalancer: unary((request: DeleteLoadBalancerRequest) =>
        cloud.serve("delete", nameOf(request.service), request, () => remove(cloud, request)),
      ),
    });
  }

  /** Connections break, as when the process dies. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown();
  }
}

function unary<Request, Response>(
  answer: (request: Request) => Promise<Response>,
): (call: ServerUnaryCall<Request, Response>, callback: sendUnaryData<Response>) => void {
  return (call, callback) => void reply(answer(call.request), callback);
}

async function reply<Response>(answer: Promise<Response>, callback: sendUnaryData<Response>): Promise<void> {
  try {
    callback(null, await answer);
  } catch (error) {
    callback(error instanceof StatusFailure ? error : new StatusFailure(13, String(error)));
  }
}

function instances(cloud: Cloud, { nodes }: BatchGetInstancesRequest): BatchGetInstancesResponse {
  return {
    scopeId: SCOPE,
    results: nodes.map(({ name, providerId }) => lookUp(cloud, name, providerId)),
    stats: undefined,
  };
}

function lookUp(cloud: Cloud, name: string, providerId: string): InstanceResult {
  if (providerId !== "" && !providerId.startsWith("acme://")) {
    return InstanceResult.fromPartial({
      outcome: { $case: "notOwned", value: { message: `${providerId} is not acme://` } },
    });
  }
  const machine = [...cloud.machines].find(([known, { providerId: id }]) =>
    providerId === "" ? known === name : id === providerId,
  );
  if (machine === undefined) {
    return InstanceResult.fromPartial({ outcome: { $case: "absent", value: { basis: 2, observeTime: new Date() } } });
  }
  const [known, { addresses = [], labels = {}, ...facts }] = machine;
  const value = { name: known, ...facts, addresses: addresses.map(asType), labels: { ...labels } };
  return InstanceResult.fromPartial({ outcome: { $case: "instance", value }, readTime: new Date() });
}

function asType({ type, address }: { readonly type: 1 | 2 | 3; readonly address: string }) {
  return { type, address };
}

function get(cloud: Cloud, { service }: GetLoadBalancerRequest): GetLoadBalancerResponse {
  const balancer = cloud.balancers.get(required(service).uid);
  if (balancer === undefined) {
    const absence = { basis: 2, observeTime: new Date() } as const;
    return GetLoadBalancerResponse.fromPartial({ outcome: { $case: "absent", value: absence } });
  }
  if (balancer.pollsLeft > 0) balancer.pollsLeft--;
  return GetLoadBalancerResponse.fromPartial({ outcome: { $case: "loadBalancer", value: show(balancer) } });
}

function check(
  cloud: Cloud,
  { service, specFingerprint, nodes }: EnsureLoadBalancerRequest,
): EnsureLoadBalancerResponse {
  const balancer = cloud.balancers.get(required(service).uid);
  const isSame =
    balancer?.specFingerprint === specFingerprint &&
    balancer.observedFingerprint === "up-to-date" &&
    String(balancer.nodes) === String(namesOf(nodes, balancer));
  return EnsureLoadBalancerResponse.fromPartial({
    ...(balancer === undefined ? {} : { loadBalancer: show(balancer) }),
    plannedChanges: isSame ? [] : [{ action: 2, resourceType: "load balancer", summary: "its rules" }],
  });
}

function ensure(cloud: Cloud, request: EnsureLoadBalancerRequest): EnsureLoadBalancerResponse {
  const { service, specFingerprint, nodes } = request;
  const before = cloud.balancers.get(required(service).uid);
  const balancer = cloud.ensure(required(service), specFingerprint, nodes?.fingerprint ?? "", namesOf(nodes, before));
  return EnsureLoadBalancerResponse.fromPartial({ loadBalancer: show(balancer) });
}

function update(cloud: Cloud, { service, nodes }: UpdateLoadBalancerNodesRequest): UpdateLoadBalancerNodesResponse {
  const balancer = cloud.balancers.get(required(service).uid);
  if (balancer === undefined) throw contractFailure("LOAD_BALANCER_NOT_FOUND", "no load balancer of that Service");
  Object.assign(balancer, { nodesFingerprint: nodes?.fingerprint ?? "", nodes: namesOf(nodes, balancer) });
  return UpdateLoadBalancerNodesResponse.fromPartial({ loadBalancer: show(balancer) });
}

function remove(cloud: Cloud, { service }: DeleteLoadBalancerRequest): DeleteLoadBalancerResponse {
  const done = cloud.delete(required(service).uid);
  const unfinished = { operation: { id: "deletion", pollAfter: POLL_AFTER } };
  return DeleteLoadBalancerResponse.fromPartial({ done, ...(done ? {} : unfinished) });
}

function show(balancer: Balancer): LoadBalancer {
  const { id, ingress, service, specFingerprint, nodesFingerprint, observedFingerprint, pollsLeft } = balancer;
  const isReady = pollsLeft === 0;
  return LoadBalancer.fromPartial({
    id,
    service,
    phase: isReady ? ACTIVE : PROVISIONING,
    ...(ingress === undefined ? {} : { ingress: { items: [...ingress] } }),
    specFingerprint,
    nodesFingerprint,
    observedFingerprint,
    ...(isReady ? {} : { operation: { id: `op-${id}`, pollAfter: POLL_AFTER } }),
  });
}

function namesOf(nodes: NodeSelection | undefined, before: Balancer | undefined): readonly string[] {
  const source = nodes?.source;
  if (source?.$case === "unchanged") {
    if (before?.nodesFingerprint === nodes?.fingerprint && before !== undefined) return before.nodes;
    throw contractFailure("NODES_FINGERPRINT_MISMATCH", "the nodes are others");
  }
  if (source?.$case !== "inline") throw contractFailure("NODE_SET_UNKNOWN", "nodes are not spelled out");
  return source.value.nodes.map(({ name }) => name).toSorted();
}

function nameOf(service: ServiceRef | undefined): string {
  return required(service).name;
}

function required(service: ServiceRef | undefined): ServiceRef {
  if (service === undefined) throw contractFailure("FIELD_MISSING", "service");
  return service;
}
