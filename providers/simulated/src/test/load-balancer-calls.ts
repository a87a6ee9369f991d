import { createHash } from "node:crypto";
import type { ChangeContext } from "@cloudwire/proto/cloudprovider/v1/common";
import { Protocol } from "@cloudwire/proto/cloudprovider/v1/identity";
import {
  DeleteLoadBalancerRequest,
  type DeleteLoadBalancerResponse,
  type DeepPartial,
  EnsureLoadBalancerRequest,
  type EnsureLoadBalancerResponse,
  GetLoadBalancerRequest,
  LoadBalancerSpec,
  UpdateLoadBalancerNodesRequest,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { afterEach, beforeEach } from "vitest";
import type { Instance } from "../api/instances.ts";
import { instanceSpecs, soon } from "./test-cloud.ts";
import { startTestProvider, type TestProvider } from "./test-provider.ts";

export const nodePort = 30_080;
export const service = { namespace: "default", name: "web", uid: "uid-1" };

export function selection(instances: readonly Instance[]) {
  const list = instances.map(({ name, zone, id }) => ({ name, providerId: `sim://${zone}/${id}` }));
  const fingerprint = createHash("sha256").update(JSON.stringify(list)).digest("hex");
  return { fingerprint, count: list.length, source: { $case: "inline" as const, value: { nodes: list } } };
}

export interface EnsureOptions {
  readonly spec?: DeepPartial<LoadBalancerSpec>;
  readonly on?: readonly Instance[];
  readonly cluster?: string;
  readonly uid?: string;
  readonly change?: Partial<ChangeContext>;
  readonly adopt?: string;
}

interface Started {
  readonly provider: TestProvider;
  /** Two running instances. */
  readonly nodes: readonly Instance[];
}

/** Starts a provider for each test of a file, given to `started`, and stops it after; calls of it for one Service. */
export function loadBalancerCalls(started: (made: Started) => void) {
  let provider: TestProvider;
  let nodes: readonly Instance[];
  beforeEach(async () => {
    provider = await startTestProvider({ callTimeoutMs: 1000 });
    nodes = await provider.cloud.client.createInstances(instanceSpecs(2), soon());
    started({ provider, nodes });
  });
  afterEach(async () => {
    await provider.close();
  });

  async function ensure(options: EnsureOptions = {}): Promise<EnsureLoadBalancerResponse> {
    const ports = [{ protocol: Protocol.TCP, port: 8080, nodePort }];
    const spec = LoadBalancerSpec.fromPartial({ ports, ...options.spec });
    const request = EnsureLoadBalancerRequest.fromPartial({
      context: options.cluster === undefined ? provider.context : provider.contextOf(options.cluster),
      change: provider.change(options.change),
      service: { ...service, uid: options.uid ?? service.uid },
      spec,
      specFingerprint: createHash("sha256").update(LoadBalancerSpec.encode(spec).finish()).digest("hex"),
      nodes: selection(options.on ?? nodes),
      ...(options.adopt === undefined ? {} : { adopt: { loadBalancerId: options.adopt } }),
    });
    return provider.call(provider.client.ensureLoadBalancer.bind(provider.client), request);
  }

  async function updateNodes(on: readonly Instance[], change: Partial<ChangeContext> = {}) {
    const request = UpdateLoadBalancerNodesRequest.fromPartial({
      context: provider.context,
      change: provider.change(change),
      service,
      nodes: selection(on),
    });
    return provider.call(provider.client.updateLoadBalancerNodes.bind(provider.client), request);
  }

  async function remove(
    more: { uid?: string; cluster?: string; change?: Partial<ChangeContext> } = {},
  ): Promise<DeleteLoadBalancerResponse> {
    const request = DeleteLoadBalancerRequest.fromPartial({
      context: more.cluster === undefined ? provider.context : provider.contextOf(more.cluster),
      change: provider.change(more.change),
      service: { ...service, uid: more.uid ?? service.uid },
    });
    return provider.call(provider.client.deleteLoadBalancer.bind(provider.client), request);
  }

  async function get() {
    const request = GetLoadBalancerRequest.fromPartial({ context: provider.context, service });
    return (await provider.call(provider.client.getLoadBalancer.bind(provider.client), request)).outcome;
  }

  const inCloud = async () => (await provider.cloud.client.listLoadBalancers({ consistent: true }, soon())).items;

  async function countCalls<T>(
    work: () => Promise<T>,
  ): Promise<{ readonly result: T; readonly total: number; readonly mutating: number }> {
    await provider.cloud.admin.resetCalls();
    const result = await work();
    const { total, mutating } = await provider.cloud.admin.calls();
    return { result, total, mutating };
  }

  return { ensure, updateNodes, remove, get, inCloud, countCalls };
}
