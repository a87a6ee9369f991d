import { absenceFromProto, brokenAnswer } from "../convert/instance.ts";
import * as convert from "../convert/load-balancer.ts";
import { RPCS } from "../convert/methods.ts";
import { loadBalancerSpecToProto } from "../convert/service.ts";
import type {
  CallOptions,
  ChangeOptions,
  EnsureLoadBalancerInput,
  Listing,
  LoadBalancerRef,
  NodeSelection,
  NodeSetChunk,
  NodeSetState,
  ProviderClient,
  UpdateNodesInput,
} from "../model/client.ts";
import { contractError, type ProviderError } from "../model/errors.ts";
import type {
  Diagnostic,
  LoadBalancer,
  LoadBalancerChange,
  LoadBalancerDeletion,
  LoadBalancerResult,
  ServiceRef,
} from "../model/load-balancer.ts";
import { limitChanges } from "../limits/change-limiter.ts";
import { checkLoadBalancer } from "./check.ts";
import { isUnresolved, NodeSets } from "./node-sets.ts";
import { walkPages } from "./pages.ts";
import type { Answered, Session } from "./session.ts";

type Calls = Pick<
  ProviderClient,
  | "getLoadBalancer"
  | "listLoadBalancers"
  | "ensureLoadBalancer"
  | "updateLoadBalancerNodes"
  | "deleteLoadBalancer"
  | "applyNodeSet"
  | "checkLoadBalancer"
>;

export function loadBalancerCalls(session: Session): Calls {
  const calls = new LoadBalancerCalls(session);
  const methods: Omit<Calls, "checkLoadBalancer"> = {
    getLoadBalancer: (ref, options) => calls.get(ref, options),
    listLoadBalancers: (options) => calls.list(options),
    ensureLoadBalancer: (input, options) => calls.ensure(input, options),
    updateLoadBalancerNodes: (input, options) => calls.updateNodes(input, options),
    deleteLoadBalancer: (ref, options) => calls.delete(ref, options),
    applyNodeSet: (chunk, options) => calls.applyNodeSet(chunk, options),
  };
  const limited = limitChanges(methods, () => session.info?.capabilities.loadBalancers);
  return { ...limited, checkLoadBalancer: (input, options) => checkLoadBalancer(session, limited, input, options) };
}

type Send = (nodes: NodeSelection, options: ChangeOptions) => Promise<LoadBalancerChange>;

class LoadBalancerCalls {
  readonly #session: Session;
  readonly #sets = new NodeSets((chunk, options) => this.applyNodeSet(chunk, options));

  constructor(session: Session) {
    this.#session = session;
  }

  async get(ref: LoadBalancerRef, options: CallOptions): Promise<LoadBalancerResult> {
    const session = this.#session;
    const request = convert.loadBalancerRefToProto(ref);
    const answered = await session.call(RPCS.getLoadBalancer, (context) => ({ context, ...request }), options);
    const { outcome, diagnostics: wireDiagnostics } = answered.response;
    const diagnostics = wireDiagnostics.map((diagnostic) => convert.diagnosticFromProto(diagnostic));
    if (outcome === undefined) throw this.#broken(answered, ref.service, "the response has no outcome");
    if (outcome.$case === "loadBalancer") {
      const loadBalancer = convert.loadBalancerOf(ref.service, outcome.value);
      if (typeof loadBalancer === "string") throw this.#broken(answered, ref.service, loadBalancer);
      return { kind: "present", loadBalancer, diagnostics };
    }
    const { witness } = session.answerContext(answered);
    const absence = absenceFromProto(outcome.value, undefined, witness);
    if (typeof absence === "string") throw this.#broken(answered, ref.service, absence);
    const problem = session.absenceProblem(absence);
    if (problem !== undefined) throw problem;
    return { kind: "absent", ...absence, diagnostics };
  }

  /** All pages. A load balancer without a Service makes the list incomplete. */
  async list(options: CallOptions): Promise<Listing<LoadBalancer>> {
    const session = this.#session;
    const { list } = await session.capability("loadBalancers", options.signal);
    const walk = await walkPages(session.brokenList("ListLoadBalancers"), async (pageToken) => {
      const request = { pageSize: list?.maxPageSize ?? 0, pageToken };
      const answered = await session.call(RPCS.listLoadBalancers, (context) => ({ context, ...request }), options);
      const { response } = answered;
      return {
        ...response,
        items: response.loadBalancers.map((wire) => convert.loadBalancerFromProto(wire)),
        received: answered.received,
        problem: session.scopeProblem(answered, response.scopeId),
      };
    });
    const items = walk.items.filter((item) => item !== undefined);
    return { ...walk, items, complete: walk.complete && items.length === walk.items.length };
  }

  /**
   * Sends acknowledged nodes as a fingerprint and many nodes by reference to a set; sends them inline when the provider knows neither, for
   * example after a restart.
   */
  async ensure(input: EnsureLoadBalancerInput, options: ChangeOptions): Promise<LoadBalancerChange> {
    const { nodes, acknowledgedNodes } = input;
    const send: Send = (selection, own) => this.#ensureOnce({ ...input, nodes: selection }, own);
    if (acknowledgedNodes !== nodes.fingerprint) return this.#sendNodes(nodes, options, send);
    try {
      return await send({ ...nodes, source: { kind: "unchanged" } }, options);
    } catch (error) {
      if (!isUnresolved(error)) throw error;
      return this.#sendNodes(nodes, asNewRequest(options), send);
    }
  }

  /** Sends nodes as {@link ensure} does. */
  updateNodes(input: UpdateNodesInput, options: ChangeOptions): Promise<LoadBalancerChange> {
    return this.#sendNodes(input.nodes, options, (nodes, own) => this.#updateOnce({ ...input, nodes }, own));
  }

  async delete(ref: LoadBalancerRef, options: ChangeOptions): Promise<LoadBalancerDeletion> {
    const request = { ...convert.loadBalancerRefToProto(ref), loadBalancerId: ref.loadBalancerId ?? "" };
    const { response } = await this.#session.change(
      RPCS.deleteLoadBalancer,
      (context, change) => ({ context, change, ...request }),
      options,
    );
    return convert.loadBalancerDeletionFromProto(response);
  }

  async applyNodeSet(chunk: NodeSetChunk, options: CallOptions): Promise<NodeSetState> {
    const request = convert.nodeSetChunkToProto(chunk);
    const { response } = await this.#session.call(RPCS.applyNodeSet, (context) => ({ context, ...request }), options);
    return response;
  }

  /** By reference to a set if that is worthwhile and works, else inline. */
  async #sendNodes(nodes: NodeSelection, options: ChangeOptions, send: Send): Promise<LoadBalancerChange> {
    const { nodeSets } = await this.#session.capability("loadBalancers", options.signal);
    if (!this.#sets.isFit(nodes, nodeSets)) return send(nodes, options);
    try {
      return await send(await this.#sets.reference(nodes, options), options);
    } catch (error) {
      if (!isUnresolved(error)) throw error;
      if (!this.#sets.forget(nodes)) return this.#sendInline(nodes, options, send, error);
    }
    try {
      return await send(await this.#sets.reference(nodes, options), asNewRequest(options));
    } catch (error) {
      if (!isUnresolved(error)) throw error;
      return this.#sendInline(nodes, options, send, error);
    }
  }

  /** Throws `unresolved`, which is temporary, if there are too many nodes. */
  async #sendInline(nodes: NodeSelection, options: ChangeOptions, send: Send, unresolved: ProviderError) {
    const { maxInlineNodes } = await this.#session.limits(options.signal);
    if (isTooMany(nodes, maxInlineNodes)) throw unresolved;
    return send(nodes, asNewRequest(options));
  }

  async #ensureOnce(input: EnsureLoadBalancerInput, options: ChangeOptions): Promise<LoadBalancerChange> {
    const { service, adoptLoadBalancerId, specFingerprint, operationId = "" } = input;
    await this.#rejectTooMany(input.nodes, options.signal);
    const answered = await this.#session.change(
      RPCS.ensureLoadBalancer,
      (context, change) => ({
        context,
        change,
        service: convert.serviceRefToProto(service),
        spec: loadBalancerSpecToProto(input.spec),
        specFingerprint,
        nodes: convert.nodeSelectionToProto(input.nodes),
        operationId,
        adopt: adoptLoadBalancerId === undefined ? undefined : { loadBalancerId: adoptLoadBalancerId },
      }),
      options,
    );
    return this.#changeOf(answered, input, options);
  }

  async #updateOnce(input: UpdateNodesInput, options: ChangeOptions): Promise<LoadBalancerChange> {
    await this.#rejectTooMany(input.nodes, options.signal);
    const { operationId: _, ...ref } = convert.loadBalancerRefToProto(input);
    const nodes = convert.nodeSelectionToProto(input.nodes);
    const loadBalancerId = input.loadBalancerId ?? "";
    const answered = await this.#session.change(
      RPCS.updateLoadBalancerNodes,
      (context, change) => ({ context, change, ...ref, loadBalancerId, nodes }),
      options,
    );
    return this.#changeOf(answered, input, options);
  }

  /** The provider would reject the call as well, with fewer details. */
  async #rejectTooMany(nodes: NodeSelection, signal: AbortSignal): Promise<void> {
    const { maxInlineNodes } = await this.#session.limits(signal);
    if (!isTooMany(nodes, maxInlineNodes)) return;
    const limit = `it takes at most ${maxInlineNodes} in one call (limits.max_inline_nodes)`;
    const message = `provider ${this.#session.provider}: ${nodes.count} nodes were not sent: ${limit}`;
    throw contractError("FIELD_TOO_LARGE", message);
  }

  #changeOf(
    answered: Answered<Parameters<typeof convert.loadBalancerChangeFromProto>[0]>,
    { service, nodes }: { readonly service: ServiceRef; readonly nodes: NodeSelection },
    { validateOnly = false }: ChangeOptions,
  ): LoadBalancerChange {
    const change = convert.loadBalancerChangeFromProto(answered.response, service, { validateOnly });
    if (typeof change === "string") throw this.#broken(answered, service, change);
    return { ...change, diagnostics: [...leftOut(nodes), ...change.diagnostics] };
  }

  #broken({ requestId }: Answered<unknown>, { namespace, name }: ServiceRef, problem: string): ProviderError {
    return brokenAnswer(problem, `${this.#session.provider}: load balancer of ${namespace}/${name}`, requestId);
  }
}

/** A different request than the rejected one, so it needs a new ID. */
function asNewRequest(options: ChangeOptions): ChangeOptions {
  const { requestId: _, ...rest } = options;
  return rest;
}

function isTooMany({ source }: NodeSelection, maxInlineNodes: number): boolean {
  return source.kind === "inline" && source.nodes.length > maxInlineNodes;
}

function leftOut({ leftOut: nodes = [] }: NodeSelection): readonly Diagnostic[] {
  if (nodes.length === 0) return [];
  const summary = `${nodes.length} problems make nodes unfit as targets; these nodes are left out: ${nodes.slice(0, 3).join("; ")}`;
  return [{ severity: "warning", reason: "NodesLeftOut", summary, detail: "", field: "nodes", helpUrl: "" }];
}
