import {
  type DeleteLoadBalancerRequest,
  type DeleteLoadBalancerResponse,
  type EnsureLoadBalancerRequest,
  type EnsureLoadBalancerResponse,
  LoadBalancerPhase,
  type UpdateLoadBalancerNodesRequest,
  type UpdateLoadBalancerNodesResponse,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import type { LoadBalancerRef } from "../definition/load-balancers.ts";
import { ProviderError } from "../errors/provider-error.ts";
import type { RpcCall } from "../rpc/method.ts";
import { ChangeGate, type ChangeGateOptions } from "../state/change-gate.ts";
import { LruMap } from "../util/lru-map.ts";

type Answer =
  | { readonly kind: "ensure"; readonly response: EnsureLoadBalancerResponse }
  | { readonly kind: "updateNodes"; readonly response: UpdateLoadBalancerNodesResponse }
  | { readonly kind: "delete"; readonly response: DeleteLoadBalancerResponse };

type ChangeRequest = Pick<EnsureLoadBalancerRequest, "change" | "service">;

/** Load balancers whose newest generation is remembered. */
const maxGenerations = 10_000;

/** Orders the changes of each load balancer: one at a time, repetitions answered, older wishes refused. */
export class LoadBalancerChanges {
  readonly #gate: ChangeGate<Answer>;
  readonly #newest: LruMap<bigint>;

  constructor(options: ChangeGateOptions) {
    this.#gate = new ChangeGate(options);
    this.#newest = new LruMap({ maxEntries: maxGenerations, nowMs: options.nowMs });
  }

  async ensure(
    ref: LoadBalancerRef,
    request: EnsureLoadBalancerRequest,
    call: RpcCall,
    work: (signal: AbortSignal) => Promise<EnsureLoadBalancerResponse>,
  ): Promise<EnsureLoadBalancerResponse> {
    if (request.change?.validateOnly) return work(call.signal);
    const digest = JSON.stringify([
      request.specFingerprint,
      request.nodes?.fingerprint,
      String(request.service?.generation ?? 0),
      request.adopt?.loadBalancerId,
    ]);
    const answer = await this.#run(ref, `ensure ${digest}`, request, call, async (signal) => {
      this.#refuseStale(ref, request);
      const response = await work(signal);
      this.#applied(ref, request);
      return { kind: "ensure", response };
    });
    if (answer.kind === "ensure") return answer.response;
    throw mixedUp("ensure", answer);
  }

  async updateNodes(
    ref: LoadBalancerRef,
    request: UpdateLoadBalancerNodesRequest,
    call: RpcCall,
    work: (signal: AbortSignal) => Promise<UpdateLoadBalancerNodesResponse>,
  ): Promise<UpdateLoadBalancerNodesResponse> {
    if (request.change?.validateOnly) return work(call.signal);
    const digest = `updateNodes ${request.nodes?.fingerprint ?? ""}`;
    const answer = await this.#run(ref, digest, request, call, async (signal) => {
      this.#refuseStale(ref, request);
      return { kind: "updateNodes", response: await work(signal) };
    });
    if (answer.kind === "updateNodes") return answer.response;
    throw mixedUp("updateNodes", answer);
  }

  async delete(
    ref: LoadBalancerRef,
    request: DeleteLoadBalancerRequest,
    call: RpcCall,
    work: (signal: AbortSignal) => Promise<DeleteLoadBalancerResponse>,
  ): Promise<DeleteLoadBalancerResponse> {
    if (request.change?.validateOnly) return work(call.signal);
    const answer = await this.#run(ref, "delete", request, call, async (signal) => {
      const response = await work(signal);
      if (response.done) this.#newest.delete(ref.key);
      return { kind: "delete", response };
    });
    if (answer.kind === "delete") return answer.response;
    throw mixedUp("delete", answer);
  }

  #run(
    ref: LoadBalancerRef,
    digest: string,
    { change }: ChangeRequest,
    call: RpcCall,
    work: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    return this.#gate.run({
      key: ref.key,
      changeId: change?.requestId ?? "",
      digest,
      signal: call.signal,
      work,
      isFinal,
    });
  }

  #refuseStale(ref: LoadBalancerRef, { service }: ChangeRequest): void {
    const newest = this.#newest.get(ref.key);
    const generation = service?.generation ?? 0n;
    if (newest === undefined || generation === 0n || generation >= newest) return;
    throw new ProviderError(
      "STALE_GENERATION",
      `service.generation is ${generation}, but ${newest} was applied already; read the Service again`,
      { metadata: { applied_generation: String(newest) } },
    );
  }

  #applied(ref: LoadBalancerRef, { service }: ChangeRequest): void {
    const generation = service?.generation ?? 0n;
    if (generation > (this.#newest.get(ref.key) ?? 0n)) this.#newest.set(ref.key, generation);
  }
}

/** Digests begin with the kind of change: an answer of another kind would be a bug of this file. */
const mixedUp = (wanted: string, answer: Answer) =>
  new TypeError(`a repeated ${wanted} met the answer of a ${answer.kind}`);

/** Work that goes on, or that failed, is asked about again and must not be answered from memory. */
const isFinal = (answer: Answer): boolean => {
  if (answer.kind === "delete") return answer.response.done;
  const { loadBalancer } = answer.response;
  return loadBalancer !== undefined && !loadBalancer.operation && loadBalancer.phase === LoadBalancerPhase.ACTIVE;
};
