import type {
  DeleteLoadBalancerRequest,
  DeleteLoadBalancerResponse,
  EnsureLoadBalancerRequest,
  EnsureLoadBalancerResponse,
  GetLoadBalancerRequest,
  GetLoadBalancerResponse,
  LoadBalancer as WireLoadBalancer,
  UpdateLoadBalancerNodesRequest,
  UpdateLoadBalancerNodesResponse,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { fromWireCluster, toWireAbsence, toWireOperation } from "../convert/common.ts";
import {
  fromWireSpec,
  type LoadBalancerDefaults,
  loadBalancerRef,
  toWireLoadBalancer,
} from "../convert/load-balancer.ts";
import type { CallContext } from "../definition/call-context.ts";
import type { LoadBalancer, LoadBalancerHandlers, LoadBalancerRef, WantedNodes } from "../definition/load-balancers.ts";
import { type Absent, absent, type Pending } from "../definition/outcomes.ts";
import { ProviderError } from "../errors/provider-error.ts";
import type { RpcCall } from "../rpc/method.ts";
import { answerProblem, refuseAbsence } from "./answers.ts";
import type { CallRecorder } from "./call-recorder.ts";
import type { LoadBalancerChanges } from "./load-balancer-changes.ts";
import type { NodeResolver } from "./node-resolver.ts";
import { type ProviderRuntime, recorderFor, type WithContext } from "./runtime.ts";

/** What the service needs. */
export interface LoadBalancerServiceOptions {
  readonly runtime: ProviderRuntime;
  readonly handlers: LoadBalancerHandlers;
  readonly nodes: NodeResolver;
  readonly changes: LoadBalancerChanges;
}

/** Serves the RPCs about one load balancer. */
export class LoadBalancerService {
  readonly #runtime: ProviderRuntime;
  readonly #handlers: LoadBalancerHandlers;
  readonly #nodes: NodeResolver;
  readonly #changes: LoadBalancerChanges;

  constructor(options: LoadBalancerServiceOptions) {
    this.#runtime = options.runtime;
    this.#handlers = options.handlers;
    this.#nodes = options.nodes;
    this.#changes = options.changes;
  }

  async ensure(request: EnsureLoadBalancerRequest, call: RpcCall): Promise<EnsureLoadBalancerResponse> {
    const ref = this.#ref(request);
    const wanted = this.#nodes.resolve(ref.key, request.nodes);
    return this.#changes.ensure(ref.key, request, call, (signal) => this.#ensure(ref, wanted, request, call, signal));
  }

  async #ensure(
    ref: LoadBalancerRef,
    nodes: WantedNodes,
    request: EnsureLoadBalancerRequest,
    call: RpcCall,
    signal: AbortSignal,
  ): Promise<EnsureLoadBalancerResponse> {
    if (!request.spec) throw new ProviderError("FIELD_MISSING", "spec is required", { field: "spec" });
    const recorder = recorderFor(this.#runtime, request, call, signal);
    const wanted = {
      ...fromWireSpec(request.spec),
      ...ref,
      ...nodes,
      specFingerprint: request.specFingerprint,
      ...(request.adopt ? { adopt: { loadBalancerId: request.adopt.loadBalancerId } } : {}),
    };
    const answer = await this.#handlers.ensure(wanted, recorder.change(request.change));
    const validateOnly = request.change?.validateOnly ?? false;
    if (answer === undefined && !validateOnly)
      throw new ProviderError("INVARIANT_BROKEN", "ensure() answered no load balancer");
    // With validate_only nothing came into force: only what the provider says itself is told.
    const asked: LoadBalancerDefaults = validateOnly
      ? { service: request.service }
      : {
          service: request.service,
          specFingerprint: request.specFingerprint,
          nodesFingerprint: nodes.nodesFingerprint,
        };
    const loadBalancer = answer && this.#toWire(answer, asked);
    if (loadBalancer && !validateOnly) this.#acknowledge(ref.key, loadBalancer, nodes);
    return { loadBalancer, ...reported(recorder) };
  }

  async updateNodes(request: UpdateLoadBalancerNodesRequest, call: RpcCall): Promise<UpdateLoadBalancerNodesResponse> {
    const ref = this.#ref(request);
    const nodes = this.#nodes.resolve(ref.key, request.nodes);
    return this.#changes.updateNodes(ref.key, request, call, (signal) =>
      this.#updateNodes(ref, nodes, request, call, signal),
    );
  }

  async #updateNodes(
    ref: LoadBalancerRef,
    nodes: WantedNodes,
    request: UpdateLoadBalancerNodesRequest,
    call: RpcCall,
    signal: AbortSignal,
  ): Promise<UpdateLoadBalancerNodesResponse> {
    const recorder = recorderFor(this.#runtime, request, call, signal);
    const answer = await this.#handlers.updateNodes?.({ ...ref, ...nodes }, recorder.change(request.change));
    if (answer === undefined) throw new ProviderError("INVARIANT_BROKEN", "updateNodes() answered no load balancer");
    const validateOnly = request.change?.validateOnly ?? false;
    const loadBalancer = this.#toWire(answer, {
      service: request.service,
      ...(validateOnly ? {} : { nodesFingerprint: nodes.nodesFingerprint }),
    });
    if (!validateOnly) this.#acknowledge(ref.key, loadBalancer, nodes);
    return { loadBalancer, ...reported(recorder) };
  }

  async delete(request: DeleteLoadBalancerRequest, call: RpcCall): Promise<DeleteLoadBalancerResponse> {
    const ref = this.#ref(request);
    return this.#changes.delete(ref.key, request, call, (signal) => this.#delete(ref, request, call, signal));
  }

  async #delete(
    ref: LoadBalancerRef,
    request: DeleteLoadBalancerRequest,
    call: RpcCall,
    signal: AbortSignal,
  ): Promise<DeleteLoadBalancerResponse> {
    const recorder = recorderFor(this.#runtime, request, call, signal);
    const answer = (await this.#handlers.delete(ref, recorder.change(request.change))) ?? undefined;
    if (!answer && !request.change?.validateOnly) this.#nodes.forget(ref.key);
    return {
      done: answer === undefined,
      operation: answer && toWireOperation(answer),
      remaining: (answer?.remaining ?? []).slice(0, maxRemaining),
      ...reported(recorder),
    };
  }

  async get(request: GetLoadBalancerRequest, call: RpcCall): Promise<GetLoadBalancerResponse> {
    const callTime = new Date(this.#runtime.nowMs());
    const recorder = recorderFor(this.#runtime, request, call);
    const answer = await this.#read(this.#ref(request), recorder.context());
    const { diagnostics, stats } = reported(recorder);
    if (answer.kind !== "absent") {
      const value = this.#toWire(answer, { service: request.service });
      return { outcome: { $case: "loadBalancer", value }, diagnostics, stats };
    }
    const refused = refuseAbsence(answer, recorder.errors);
    if (refused) throw refused;
    return { outcome: { $case: "absent", value: toWireAbsence(answer, callTime) }, diagnostics, stats };
  }

  async #read(ref: LoadBalancerRef, context: CallContext): Promise<LoadBalancer | Pending | Absent> {
    const { get, list } = this.#handlers;
    if (get) return get(ref, context);
    let unread: string | undefined;
    for await (const item of list(context)) {
      if (item.kind === "unreachable") unread = item.place;
      else if (item.kind !== "resumeFrom" && item.service?.uid === ref.service.uid) return item;
    }
    if (unread === undefined) return absent("COMPLETE_LIST_MISS");
    throw new ProviderError("ZONE_UNREACHABLE", `the load balancer was not found, but ${unread} could not be read`, {
      metadata: { zone: unread },
    });
  }

  #toWire(answer: LoadBalancer | Pending, defaults: LoadBalancerDefaults): WireLoadBalancer {
    const loadBalancer = toWireLoadBalancer(
      answer.kind === "pending" ? { id: answer.id, phase: answer.phase, operation: answer } : answer,
      defaults,
    );
    const problem = answerProblem(this.#runtime.rules, "LoadBalancer", loadBalancer);
    if (problem) throw problem;
    return loadBalancer;
  }

  #acknowledge(key: string, loadBalancer: WireLoadBalancer, nodes: WantedNodes): void {
    if (loadBalancer.nodesFingerprint === nodes.nodesFingerprint) this.#nodes.acknowledge(key, nodes);
  }

  #ref(request: LoadBalancerRequest): LoadBalancerRef {
    const { class: loadBalancerClass, annotations } = request.spec ?? request;
    return {
      ...loadBalancerRef(fromWireCluster(request.context?.cluster), request.service),
      ...(loadBalancerClass === undefined ? {} : { class: loadBalancerClass }),
      annotations: annotations ?? {},
      ...(request.loadBalancerId ? { id: request.loadBalancerId } : {}),
      ...(request.operationId ? { operationId: request.operationId } : {}),
    };
  }
}

/** Longest list of leftovers. Contract: DeleteLoadBalancerResponse.remaining. */
const maxRemaining = 64;

/** What the requests about one load balancer have in common. */
interface LoadBalancerRequest extends WithContext {
  readonly service: GetLoadBalancerRequest["service"];
  readonly spec?: EnsureLoadBalancerRequest["spec"];
  readonly class?: string | undefined;
  readonly annotations?: Record<string, string>;
  readonly loadBalancerId?: string;
  readonly operationId?: string;
}

const reported = ({ diagnostics, plannedChanges, stats }: CallRecorder) => ({ diagnostics, plannedChanges, stats });
