import type { ChangeContext } from "@cloudwire/proto/cloudprovider/v1/common";
import {
  type DeleteLoadBalancerRequest,
  type DeleteLoadBalancerResponse,
  type EnsureLoadBalancerRequest,
  type EnsureLoadBalancerResponse,
  LoadBalancerPhase,
  type UpdateLoadBalancerNodesRequest,
  type UpdateLoadBalancerNodesResponse,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import type { RpcCall } from "../rpc/method.ts";
import { ChangeGate, type ChangeGateOptions } from "../state/change-gate.ts";
import { SequenceFence } from "../state/sequence-fence.ts";

type Answer =
  | { readonly kind: "ensure"; readonly response: EnsureLoadBalancerResponse }
  | { readonly kind: "updateNodes"; readonly response: UpdateLoadBalancerNodesResponse }
  | { readonly kind: "delete"; readonly response: DeleteLoadBalancerResponse };

type Work<Response> = (signal: AbortSignal) => Promise<Response>;

/** Orders the changes of each load balancer: one at a time, repetitions answered, overtaken ones refused. */
export class LoadBalancerChanges {
  readonly #gate: ChangeGate<Answer>;
  readonly #fence: SequenceFence;

  constructor(options: ChangeGateOptions) {
    this.#gate = new ChangeGate(options);
    this.#fence = new SequenceFence(options.nowMs);
  }

  async ensure(
    key: string,
    request: EnsureLoadBalancerRequest,
    call: RpcCall,
    work: Work<EnsureLoadBalancerResponse>,
  ): Promise<EnsureLoadBalancerResponse> {
    if (request.change?.validateOnly) return work(call.signal);
    const wish = [request.specFingerprint, request.nodes?.fingerprint, request.adopt?.loadBalancerId];
    const answer = await this.#run(key, `ensure ${JSON.stringify(wish)}`, request.change, call, async (signal) => ({
      kind: "ensure",
      response: await work(signal),
    }));
    if (answer.kind === "ensure") return answer.response;
    throw mixedUp("ensure", answer);
  }

  async updateNodes(
    key: string,
    request: UpdateLoadBalancerNodesRequest,
    call: RpcCall,
    work: Work<UpdateLoadBalancerNodesResponse>,
  ): Promise<UpdateLoadBalancerNodesResponse> {
    if (request.change?.validateOnly) return work(call.signal);
    const digest = `updateNodes ${request.nodes?.fingerprint ?? ""}`;
    const answer = await this.#run(key, digest, request.change, call, async (signal) => ({
      kind: "updateNodes",
      response: await work(signal),
    }));
    if (answer.kind === "updateNodes") return answer.response;
    throw mixedUp("updateNodes", answer);
  }

  async delete(
    key: string,
    request: DeleteLoadBalancerRequest,
    call: RpcCall,
    work: Work<DeleteLoadBalancerResponse>,
  ): Promise<DeleteLoadBalancerResponse> {
    if (request.change?.validateOnly) return work(call.signal);
    const answer = await this.#run(key, "delete", request.change, call, async (signal) => ({
      kind: "delete",
      response: await work(signal),
    }));
    if (answer.kind === "delete") return answer.response;
    throw mixedUp("delete", answer);
  }

  #run(
    key: string,
    digest: string,
    change: ChangeContext | undefined,
    call: RpcCall,
    work: Work<Answer>,
  ): Promise<Answer> {
    const sequence = change?.sequence ?? 0n;
    return this.#gate.run({
      key,
      changeId: change?.requestId ?? "",
      digest,
      signal: call.signal,
      work: async (signal) => {
        // Here and not before: a newer change may have passed while this one waited for its turn.
        const overtaken = this.#fence.overtaken(key, sequence);
        if (overtaken) throw overtaken;
        this.#fence.begun(key, sequence);
        return work(signal);
      },
      isFinal,
    });
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
