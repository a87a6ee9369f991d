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
import { fromWireCluster, toWireAbsence } from "../convert/common.ts";
import {
  fromWireSpec,
  type LoadBalancerDefaults,
  loadBalancerRef,
  toWireLoadBalancer,
} from "../convert/load-balancer.ts";
import type { CallContext } from "../../definition/call-context.ts";
import type { LoadBalancer, LoadBalancerHandlers } from "../../definition/load-balancers.ts";
import type { LoadBalancerRef, DesiredNodes } from "../../definition/requests.ts";
import { type Absent, absent, type Pending } from "../../results/results.ts";
import { ProviderError } from "../../results/errors.ts";
import type { RpcCall } from "../rpc/method.ts";
import { isLongOperationId, type LongOperation, type LongOperationState } from "../../state/long-changes.ts";
import { refuseAbsence, toWireResult } from "./results.ts";
import type { CallRecorder } from "../../telemetry/call-recorder.ts";
import type { ChangeWork, LoadBalancerChanges } from "./load-balancer-changes.ts";
import { iterateWithin, withinContext } from "../current-context.ts";
import { deletion, pendingWork, withLongWork } from "./long-work.ts";
import type { NodeResolver } from "./nodes.ts";
import { type ProviderRuntime, recorderFor, type WithContext } from "../runtime.ts";

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
    const work = this.#work(request, call, {
      carryOut: (recorder) => this.#ensure(ref, request, recorder),
      unfinished: (operation, { progress }) => ({
        loadBalancer: this.#toWire(pendingWork(operation, progress), { service: request.service }),
      }),
    });
    return this.#changes.ensure(ref.key, request, call, work);
  }

  async #ensure(
    ref: LoadBalancerRef,
    request: EnsureLoadBalancerRequest,
    recorder: CallRecorder,
  ): Promise<EnsureLoadBalancerResponse> {
    if (!request.spec) throw new ProviderError("FIELD_MISSING", "spec is required", { field: "spec" });
    const nodes = this.#resolveNodes(ref.key, request);
    if (nodes.nodesDiff) recorder.progressed({ phase: "UPDATING" });
    const wanted = {
      ...fromWireSpec(request.spec),
      ...ref,
      ...nodes,
      specFingerprint: request.specFingerprint,
      ...(request.adopt ? { adopt: { loadBalancerId: request.adopt.loadBalancerId } } : {}),
    };
    const context = recorder.change(request.change);
    const answer = await withinContext(context, () => this.#handlers.ensure(wanted, context));
    const validateOnly = request.change?.validateOnly ?? false;
    if (answer === undefined && !validateOnly)
      throw new ProviderError("INVARIANT_BROKEN", "ensure() answered no load balancer");
    // With validate_only nothing was applied: only the provider's own values are reported.
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
    const work = this.#work(request, call, {
      carryOut: (recorder) => this.#updateNodes(ref, request, recorder),
      unfinished: (operation, { progress }) => ({
        loadBalancer: this.#toWire(pendingWork(operation, { id: ref.id, phase: "UPDATING", ...progress }), {
          service: request.service,
        }),
      }),
    });
    return this.#changes.updateNodes(ref.key, request, call, work);
  }

  async #updateNodes(
    ref: LoadBalancerRef,
    request: UpdateLoadBalancerNodesRequest,
    recorder: CallRecorder,
  ): Promise<UpdateLoadBalancerNodesResponse> {
    const nodes = this.#resolveNodes(ref.key, request);
    const context = recorder.change(request.change);
    const answer = await withinContext(context, () => this.#handlers.updateNodes?.({ ...ref, ...nodes }, context));
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
    const work = this.#work(request, call, {
      carryOut: (recorder) => this.#delete(ref, request, recorder),
      unfinished: (operation, { progress }) => deletion(pendingWork(operation, progress)),
    });
    return this.#changes.delete(ref.key, request, call, work);
  }

  async #delete(
    ref: LoadBalancerRef,
    request: DeleteLoadBalancerRequest,
    recorder: CallRecorder,
  ): Promise<DeleteLoadBalancerResponse> {
    if (!request.change?.validateOnly) this.#nodes.forget(ref.key);
    const context = recorder.change(request.change);
    const answer = (await withinContext(context, () => this.#handlers.delete(ref, context))) ?? undefined;
    return { ...deletion(answer), ...reported(recorder) };
  }

  /** Whichever call's work it is that runs, its recorder knows what it has cost and how far it is. */
  #work<Response, Unfinished>(
    request: WithContext,
    call: RpcCall,
    {
      carryOut,
      unfinished,
    }: {
      readonly carryOut: (recorder: CallRecorder) => Promise<Response>;
      readonly unfinished: (operation: LongOperation, recorder: CallRecorder) => Unfinished;
    },
  ): ChangeWork<Response | (Unfinished & ReturnType<typeof reported>)> {
    let recorder = recorderFor(this.#runtime, request, call);
    return {
      run: ({ signal, operationEndMs }) => {
        const lasting = {
          ...call,
          get deadlineMs() {
            return operationEndMs() ?? call.deadlineMs;
          },
        };
        recorder = recorderFor(this.#runtime, request, lasting, signal);
        return carryOut(recorder);
      },
      pending: (operation) => ({
        ...unfinished(operation, recorder),
        ...reported(recorder),
        stats: recorder.takeStats(),
      }),
    };
  }

  /** What a change that fails has done to the targets is not known: until it succeeds, none are taken for known. */
  #resolveNodes(key: string, { nodes, change }: Pick<EnsureLoadBalancerRequest, "nodes" | "change">): DesiredNodes {
    const resolved = this.#nodes.resolve(key, nodes);
    if (!change?.validateOnly) this.#nodes.forget(key);
    return resolved;
  }

  async get(request: GetLoadBalancerRequest, call: RpcCall): Promise<GetLoadBalancerResponse> {
    const callTime = new Date(this.#runtime.nowMs());
    const recorder = recorderFor(this.#runtime, request, call);
    const ref = this.#ref(request);
    // Before the read: what ends while it goes on is asked about once more.
    const work = this.#longWork(ref.key, request.operationId);
    const answer = await this.#read(ref, recorder.context());
    if (!answer)
      throw new ProviderError("INVARIANT_BROKEN", "get() answered nothing; absent() says that it is not there");
    const { diagnostics, stats } = reported(recorder);
    if (answer.kind !== "absent") {
      const value = withLongWork(this.#toWire(answer, { service: request.service }), work);
      return { outcome: { $case: "loadBalancer", value }, diagnostics, stats };
    }
    const refused = refuseAbsence(answer, recorder.errors);
    if (refused) throw refused;
    if (work?.kind === "running") {
      // Not created yet, or not fully deleted: a caller that treats it as absent would orphan its resources.
      const value = this.#toWire(pendingWork(work.operation, {}), { service: request.service });
      return { outcome: { $case: "loadBalancer", value }, diagnostics, stats };
    }
    return { outcome: { $case: "absent", value: toWireAbsence(answer, callTime) }, diagnostics, stats };
  }

  #longWork(key: string, operationId: string): LongOperationState | undefined {
    const known = this.#changes.longOperation(key);
    if (known || !isLongOperationId(operationId) || this.#changes.hasSucceeded(operationId)) return known;
    // Of an earlier process, which did not live to see its end.
    return { kind: "failed" };
  }

  /** Undefined: types did not keep the vendor's code from it. */
  async #read(ref: LoadBalancerRef, context: CallContext): Promise<LoadBalancer | Pending | Absent | undefined> {
    const { get, list } = this.#handlers;
    if (get) return withinContext(context, () => get(ref, context));
    let unread: string | undefined;
    for await (const item of iterateWithin(context, () => list(context))) {
      if (item.kind === "unreachable") unread = item.place;
      else if (item.kind !== "resumeFrom" && item.service?.uid === ref.service.uid) return item;
    }
    if (unread === undefined) return absent("COMPLETE_LIST_MISS");
    throw new ProviderError("ZONE_UNREACHABLE", `the load balancer was not found, but ${unread} could not be read`, {
      metadata: { zone: unread },
    });
  }

  #toWire(answer: LoadBalancer | Pending, defaults: LoadBalancerDefaults): WireLoadBalancer {
    const loadBalancer = toWireResult(this.#runtime.rules, "LoadBalancer", () =>
      toWireLoadBalancer(
        answer.kind === "pending" ? { id: answer.id, phase: answer.phase, operation: answer } : answer,
        defaults,
      ),
    );
    if (loadBalancer instanceof ProviderError) throw loadBalancer;
    return loadBalancer;
  }

  #acknowledge(key: string, loadBalancer: WireLoadBalancer, nodes: DesiredNodes): void {
    if (loadBalancer.nodesFingerprint === nodes.nodesFingerprint) this.#nodes.acknowledge(key, nodes);
  }

  #ref(request: LoadBalancerRequest): LoadBalancerRef {
    const { class: loadBalancerClass, annotations } = request.spec ?? request;
    return {
      ...loadBalancerRef(fromWireCluster(request.context?.cluster), request.service),
      ...(loadBalancerClass === undefined ? {} : { class: loadBalancerClass }),
      annotations: annotations ?? {},
      ...(isVendors(request.loadBalancerId) ? { id: request.loadBalancerId } : {}),
      ...(isVendors(request.operationId) ? { operationId: request.operationId } : {}),
    };
  }
}

/** Ids that the SDK made for work of its own mean nothing to a provider. */
const isVendors = (id: string | undefined): id is string => id !== undefined && id !== "" && !isLongOperationId(id);

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
