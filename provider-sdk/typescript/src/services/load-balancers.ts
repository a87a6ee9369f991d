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
import type { LoadBalancer, LoadBalancerHandlers, LoadBalancerRef } from "../definition/load-balancers.ts";
import type { Pending } from "../definition/outcomes.ts";
import { ProviderError } from "../errors/provider-error.ts";
import type { RpcCall } from "../rpc/method.ts";
import { doubtedAbsence } from "./answers.ts";
import { CallRecorder } from "./call-recorder.ts";
import type { NodeResolver } from "./node-resolver.ts";
import type { ProviderRuntime, WithContext } from "./runtime.ts";

/** Serves the RPCs about one load balancer. */
export class LoadBalancerService {
  readonly #runtime: ProviderRuntime;
  readonly #handlers: LoadBalancerHandlers;
  readonly #nodes: NodeResolver;

  constructor(runtime: ProviderRuntime, handlers: LoadBalancerHandlers, nodes: NodeResolver) {
    this.#runtime = runtime;
    this.#handlers = handlers;
    this.#nodes = nodes;
  }

  async ensure(request: EnsureLoadBalancerRequest, call: RpcCall): Promise<EnsureLoadBalancerResponse> {
    const recorder = this.#recorder(request, call);
    const ref = this.#ref(request);
    const resolved = this.#nodes.resolve(ref.key, request.nodes);
    const wanted = {
      ...fromWireSpec(required(request.spec, "spec")),
      ...ref,
      ...resolved,
      specFingerprint: request.specFingerprint,
      ...(request.adopt ? { adopt: { loadBalancerId: request.adopt.loadBalancerId } } : {}),
    };
    const answer = await this.#handlers.ensure(wanted, recorder.change(request.change));
    if (answer === undefined && !request.change?.validateOnly)
      throw new ProviderError("INVARIANT_BROKEN", "ensure() answered no load balancer");
    const loadBalancer =
      answer &&
      this.#toWire(answer, {
        service: request.service,
        observedGeneration: request.service?.generation,
        specFingerprint: request.specFingerprint,
        nodesFingerprint: resolved.nodesFingerprint,
      });
    if (loadBalancer && !request.change?.validateOnly)
      this.#acknowledge(ref.key, loadBalancer, resolved.nodesFingerprint);
    return {
      loadBalancer,
      diagnostics: recorder.diagnostics,
      plannedChanges: recorder.plannedChanges,
      stats: recorder.stats,
    };
  }

  async updateNodes(request: UpdateLoadBalancerNodesRequest, call: RpcCall): Promise<UpdateLoadBalancerNodesResponse> {
    const { updateNodes } = this.#handlers;
    if (!updateNodes) throw new ProviderError("CAPABILITY_ABSENT", "This provider takes node changes as Ensure");
    const recorder = this.#recorder(request, call);
    const ref = this.#ref(request);
    const resolved = this.#nodes.resolve(ref.key, request.nodes);
    const answer = await updateNodes({ ...ref, ...resolved }, recorder.change(request.change));
    const loadBalancer = this.#toWire(answer, {
      service: request.service,
      nodesFingerprint: resolved.nodesFingerprint,
    });
    if (!request.change?.validateOnly) this.#acknowledge(ref.key, loadBalancer, resolved.nodesFingerprint);
    return {
      loadBalancer,
      diagnostics: recorder.diagnostics,
      plannedChanges: recorder.plannedChanges,
      stats: recorder.stats,
    };
  }

  async delete(request: DeleteLoadBalancerRequest, call: RpcCall): Promise<DeleteLoadBalancerResponse> {
    const recorder = this.#recorder(request, call);
    const ref = this.#ref(request);
    const answer = await this.#handlers.delete(ref, recorder.change(request.change));
    const done = answer === undefined;
    if (done && !request.change?.validateOnly) this.#nodes.forget(ref.key);
    return {
      done,
      operation: answer === undefined ? undefined : toWireOperation(answer),
      remaining: [...(answer?.remaining ?? [])],
      diagnostics: recorder.diagnostics,
      plannedChanges: recorder.plannedChanges,
      stats: recorder.stats,
    };
  }

  async get(request: GetLoadBalancerRequest, call: RpcCall): Promise<GetLoadBalancerResponse> {
    const callTime = new Date(this.#runtime.nowMs());
    const recorder = this.#recorder(request, call);
    const { get } = this.#handlers;
    if (!get) throw new ProviderError("CAPABILITY_ABSENT", "not yet");
    const answer = await get(this.#ref(request), recorder.context());
    const outcome = ((): GetLoadBalancerResponse["outcome"] => {
      if (answer.kind !== "absent")
        return { $case: "loadBalancer", value: this.#toWire(answer, { service: request.service }) };
      if (recorder.doubt) throw doubtedAbsence(recorder.doubt);
      return { $case: "absent", value: toWireAbsence(answer, callTime) };
    })();
    return { outcome, diagnostics: recorder.diagnostics, stats: recorder.stats };
  }

  #toWire(answer: LoadBalancer | Pending, defaults: LoadBalancerDefaults): WireLoadBalancer {
    return toWireLoadBalancer(answer.kind === "pending" ? { id: answer.id, operation: answer } : answer, defaults);
  }

  #acknowledge(key: string, loadBalancer: WireLoadBalancer, sentFingerprint: string): void {
    if (loadBalancer.nodesFingerprint === sentFingerprint) this.#nodes.acknowledge(key, sentFingerprint);
  }

  #recorder(request: WithContext, call: RpcCall): CallRecorder {
    const { log, nowMs, observe } = this.#runtime;
    return new CallRecorder({ call, cluster: fromWireCluster(request.context?.cluster), log, nowMs, observe });
  }

  #ref(
    request: Pick<GetLoadBalancerRequest, "context" | "service"> & {
      readonly spec?: { readonly class?: string | undefined; readonly annotations: Record<string, string> } | undefined;
      readonly class?: string | undefined;
      readonly annotations?: Record<string, string>;
      readonly loadBalancerId?: string;
      readonly operationId?: string;
    },
  ): LoadBalancerRef {
    const loadBalancerClass = request.spec ? request.spec.class : request.class;
    return {
      ...loadBalancerRef(fromWireCluster(request.context?.cluster), request.service),
      ...(loadBalancerClass === undefined ? {} : { class: loadBalancerClass }),
      annotations: request.spec?.annotations ?? request.annotations ?? {},
      ...(request.loadBalancerId ? { id: request.loadBalancerId } : {}),
      ...(request.operationId ? { operationId: request.operationId } : {}),
    };
  }
}

const required = <Value>(value: Value | undefined, field: string): Value => {
  if (value !== undefined) return value;
  throw new ProviderError("FIELD_MISSING", `${field} is required`, { field });
};
