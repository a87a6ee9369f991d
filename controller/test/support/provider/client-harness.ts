import { type BatchGetInstancesRequest, BatchGetInstancesResponse } from "@cloudwire/proto/cloudprovider/v1/instance";
import type { EnsureLoadBalancerInput, ReadOptions } from "../../../src/provider/model/client.ts";
import { nodeRef } from "../../../src/provider/convert/node.ts";
import type { NodeRef } from "../../../src/provider/model/instance.ts";
import type { LoadBalancerSpec, TargetNode } from "../../../src/provider/model/load-balancer.ts";
import type { Sidecar } from "../../../src/provider/sidecar.ts";
import { node } from "../builders.ts";
import { type HarnessOptions, ProviderHarness } from "./provider-harness.ts";
import { ScriptedProvider } from "./scripted-provider.ts";

type Script = Parameters<typeof ScriptedProvider.start>[1];

const NOTHING_DECLARED = { nodeLabelKeys: [], nodeAnnotationKeys: [] };

/** Whose load balancer the calls are about. */
export const SERVICE = { namespace: "default", name: "web", uid: "uid-1" };

/** A scripted provider and a sidecar that is connected to it, from start() until the test ends. */
export class ClientHarness implements AsyncDisposable {
  readonly harness: ProviderHarness;
  #provider: ScriptedProvider | undefined;
  #sidecar: Sidecar | undefined;

  private constructor(harness: ProviderHarness) {
    this.harness = harness;
  }

  static async create(): Promise<ClientHarness> {
    return new ClientHarness(await ProviderHarness.create());
  }

  get provider(): ScriptedProvider {
    return started(this.#provider);
  }

  get sidecar(): Sidecar {
    return started(this.#sidecar);
  }

  async start(script: Script = {}, options: HarnessOptions = {}): Promise<void> {
    await this.serve(script);
    this.#sidecar = this.harness.connect(options);
    await this.harness.ready(this.#sidecar);
  }

  /** Puts a provider at the socket, the first or one after another that has ended. */
  async serve(script: Script = {}): Promise<void> {
    this.#provider = await ScriptedProvider.start(this.harness.socketPath, script);
  }

  read(options: Partial<ReadOptions> = {}): ReadOptions {
    return { signal: this.harness.signal, maxDataAgeMs: 30_000, ...options };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.harness[Symbol.asyncDispose]();
    await this.#provider?.[Symbol.asyncDispose]();
  }
}

function started<T>(part: T | undefined): T {
  if (part === undefined) throw new Error("the world has not been started: call start() first");
  return part;
}

/** Nodes n0, n1, … as a provider is asked for them. */
export function refs(count: number): readonly NodeRef[] {
  return Array.from({ length: count }, (_, index) => {
    const spec = { providerID: `acme://i-${index}` };
    return nodeRef(node(`n${index}`, { spec }), NOTHING_DECLARED);
  });
}

/** A target of load balancers, without addresses. */
export function targetOf(name: string, providerId: string, parts: Partial<TargetNode> = {}): TargetNode {
  return { name, providerId, addresses: [], labels: {}, ...parts };
}

const EMPTY_SPEC: LoadBalancerSpec = {
  ports: [],
  ipFamilies: [],
  sourceRanges: [],
  externalTrafficPolicy: "",
  healthCheck: undefined,
  affinityTimeoutMs: undefined,
  requestedIps: [],
  annotations: {},
  nameHint: "",
  tags: {},
};

/** A request without nodes. */
export function ensureInput(): EnsureLoadBalancerInput {
  const nodes = { fingerprint: "n1-x", count: 0, source: { kind: "inline" as const, nodes: [] } };
  return { service: SERVICE, spec: EMPTY_SPEC, specFingerprint: "s1-x", nodes };
}

/** The answer that none of the nodes has a machine. */
export const absentAll = (request: BatchGetInstancesRequest): BatchGetInstancesResponse =>
  BatchGetInstancesResponse.fromPartial({
    results: request.nodes.map(() => ({
      outcome: { $case: "absent", value: { basis: 1, observeTime: new Date(), stronglyConsistent: true } },
    })),
    scopeId: "project-1",
  });
