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
import { ChangeSerializer, type ChangeRun, SequenceFence } from "../../state/change-serializer.ts";
import type { LongOperation, LongOperationState } from "../../state/long-changes.ts";
import { fromDuration } from "../../util/clock.ts";
import type { ProviderRuntime } from "../runtime.ts";

type Answer =
  | { readonly kind: "ensure"; readonly response: EnsureLoadBalancerResponse }
  | { readonly kind: "updateNodes"; readonly response: UpdateLoadBalancerNodesResponse }
  | { readonly kind: "delete"; readonly response: DeleteLoadBalancerResponse };

/** One change as the service carries it out. */
export interface ChangeWork<Response> {
  readonly run: (run: ChangeRun) => Promise<Response>;
  /** The response while the work takes longer than a caller should wait. */
  readonly pending: (operation: LongOperation) => Response;
}

/** What the changes of one provider's load balancers need. */
export interface LoadBalancerChangesOptions {
  readonly runtime: Pick<ProviderRuntime, "clock" | "log" | "bootId" | "draining" | "limits">;
  /** False: work must not go on after its call, for the provider's changes exclude each other. */
  readonly mayOutlive: boolean;
}

/** Contract: Limits.soft_call_duration, where nothing is declared. */
const defaultSoftCallMs = 10_000;

/** Orders the changes of each load balancer: one at a time, repetitions answered, superseded ones refused. */
export class LoadBalancerChanges {
  readonly #serializer: ChangeSerializer<Answer>;
  readonly #fence: SequenceFence;

  readonly #mayOutlive: boolean;

  constructor({ runtime, mayOutlive }: LoadBalancerChangesOptions) {
    const { clock, log, bootId, draining, limits } = runtime;
    const softMs = fromDuration(limits.softCallDuration, defaultSoftCallMs);
    this.#serializer = new ChangeSerializer({ clock, log, bootId, draining, softMs });
    this.#fence = new SequenceFence(clock.nowMs);
    this.#mayOutlive = mayOutlive;
  }

  /** What is known of work on this load balancer that outlived its call. */
  longOperation(key: string): LongOperationState | undefined {
    return this.#serializer.longOperation(key);
  }

  /** True: long work with this id has ended well, not long ago. */
  hasSucceeded(operationId: string): boolean {
    return this.#serializer.hasSucceeded(operationId);
  }

  async ensure(
    key: string,
    request: EnsureLoadBalancerRequest,
    call: RpcCall,
    work: ChangeWork<EnsureLoadBalancerResponse>,
  ): Promise<EnsureLoadBalancerResponse> {
    if (request.change?.validateOnly) return work.run(unlimited(call.signal));
    const desired = [request.specFingerprint, request.nodes?.fingerprint, request.adopt?.loadBalancerId];
    const answer = await this.#run(key, `ensure ${JSON.stringify(desired)}`, request.change, call, {
      run: async (run) => ({ kind: "ensure", response: await work.run(run) }),
      pending: (operation) => ({ kind: "ensure", response: work.pending(operation) }),
    });
    if (answer.kind === "ensure") return answer.response;
    throw mixedUp("ensure", answer);
  }

  async updateNodes(
    key: string,
    request: UpdateLoadBalancerNodesRequest,
    call: RpcCall,
    work: ChangeWork<UpdateLoadBalancerNodesResponse>,
  ): Promise<UpdateLoadBalancerNodesResponse> {
    if (request.change?.validateOnly) return work.run(unlimited(call.signal));
    const digest = `updateNodes ${request.nodes?.fingerprint ?? ""}`;
    const answer = await this.#run(key, digest, request.change, call, {
      run: async (run) => ({ kind: "updateNodes", response: await work.run(run) }),
      pending: (operation) => ({ kind: "updateNodes", response: work.pending(operation) }),
    });
    if (answer.kind === "updateNodes") return answer.response;
    throw mixedUp("updateNodes", answer);
  }

  async delete(
    key: string,
    request: DeleteLoadBalancerRequest,
    call: RpcCall,
    work: ChangeWork<DeleteLoadBalancerResponse>,
  ): Promise<DeleteLoadBalancerResponse> {
    if (request.change?.validateOnly) return work.run(unlimited(call.signal));
    const answer = await this.#run(key, "delete", request.change, call, {
      run: async (run) => ({ kind: "delete", response: await work.run(run) }),
      pending: (operation) => ({ kind: "delete", response: work.pending(operation) }),
    });
    if (answer.kind === "delete") return answer.response;
    throw mixedUp("delete", answer);
  }

  #run(
    key: string,
    digest: string,
    change: ChangeContext | undefined,
    call: RpcCall,
    work: ChangeWork<Answer>,
  ): Promise<Answer> {
    const sequence = change?.sequence ?? 0n;
    return this.#serializer.run({
      key,
      changeId: change?.requestId ?? "",
      digest,
      signal: call.signal,
      order: {
        superseded: () => this.#fence.superseded(key, sequence),
        begun: () => this.#fence.begun(key, sequence),
      },
      work: work.run,
      ...(this.#mayOutlive ? { pending: work.pending } : {}),
      isFinal,
    });
  }
}

const unlimited = (signal: AbortSignal): ChangeRun => ({ signal, operationEndMs: () => undefined });

/** Digests begin with the kind of change: an answer of another kind would be a bug of this file. */
const mixedUp = (wanted: string, answer: Answer) =>
  new TypeError(`a repeated ${wanted} met the answer of a ${answer.kind}`);

/** Work that goes on, or that failed, is asked about again and must not be answered from memory. */
const isFinal = (answer: Answer): boolean => {
  if (answer.kind === "delete") return answer.response.done;
  const { loadBalancer } = answer.response;
  return loadBalancer !== undefined && !loadBalancer.operation && loadBalancer.phase === LoadBalancerPhase.ACTIVE;
};
