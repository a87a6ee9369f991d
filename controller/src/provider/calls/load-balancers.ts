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
import { absenceFromProto, brokenAnswer } from "../convert/instance.ts";
import {
  diagnosticFromProto,
  loadBalancerChangeFromProto,
  loadBalancerDeletionFromProto,
  loadBalancerFromProto,
  loadBalancerOf,
  loadBalancerRefToProto,
  nodeSelectionToProto,
  nodeSetChunkToProto,
  serviceRefToProto,
} from "../convert/load-balancer.ts";
import { loadBalancerSpecToProto } from "../convert/service.ts";
import { contractError, type ProviderError } from "../model/errors.ts";
import type {
  Diagnostic,
  LoadBalancer,
  LoadBalancerResult,
  LoadBalancerChange,
  LoadBalancerDeletion,
  ServiceRef,
} from "../model/load-balancer.ts";
import { limitChanges } from "../limits/change-limiter.ts";
import { isUnresolved, NodeSets } from "./node-sets.ts";
import { walkPages } from "./pages.ts";
import type { Limits } from "../model/info.ts";
import { RPCS } from "../convert/methods.ts";
import type { Answered, Session } from "./session.ts";

type LoadBalancerCalls = Pick<
  ProviderClient,
  | "getLoadBalancer"
  | "listLoadBalancers"
  | "ensureLoadBalancer"
  | "updateLoadBalancerNodes"
  | "deleteLoadBalancer"
  | "applyNodeSet"
>;

export function loadBalancerCalls(session: Session): LoadBalancerCalls {
  const sets = new NodeSets((chunk, options) => applyNodeSet(session, chunk, options));
  const calls: LoadBalancerCalls = {
    getLoadBalancer: (ref, options) => getLoadBalancer(session, ref, options),
    listLoadBalancers: (options) => listLoadBalancers(session, options),
    ensureLoadBalancer: (input, options) => ensureLoadBalancer(session, sets, input, options),
    updateLoadBalancerNodes: (input, options) => updateLoadBalancerNodes(session, sets, input, options),
    deleteLoadBalancer: (ref, options) => deleteLoadBalancer(session, ref, options),
    applyNodeSet: (chunk, options) => applyNodeSet(session, chunk, options),
  };
  return limitChanges(calls, () => session.info?.capabilities.loadBalancers);
}

async function getLoadBalancer(
  session: Session,
  ref: LoadBalancerRef,
  options: CallOptions,
): Promise<LoadBalancerResult> {
  const answered = await session.call(
    RPCS.getLoadBalancer,
    (context) => ({ context, ...loadBalancerRefToProto(ref) }),
    options,
  );
  const { outcome, diagnostics: wireDiagnostics } = answered.response;
  const diagnostics = wireDiagnostics.map((diagnostic) => diagnosticFromProto(diagnostic));
  if (outcome === undefined) throw broken(session, answered, ref.service, "the answer has no outcome");
  if (outcome.$case === "loadBalancer") {
    const loadBalancer = loadBalancerOf(ref.service, outcome.value);
    if (typeof loadBalancer === "string") throw broken(session, answered, ref.service, loadBalancer);
    return { kind: "present", loadBalancer, diagnostics };
  }
  const { witness } = session.answerContext(answered);
  const absence = absenceFromProto(outcome.value, undefined, witness);
  if (typeof absence === "string") throw broken(session, answered, ref.service, absence);
  const problem = session.absenceProblem(absence);
  if (problem !== undefined) throw problem;
  return { kind: "absent", ...absence, diagnostics };
}

/** ListLoadBalancers, all pages. One that does not say whose it is makes the list incomplete. */
async function listLoadBalancers(session: Session, options: CallOptions): Promise<Listing<LoadBalancer>> {
  const { list } = await session.capability("loadBalancers", options.signal);
  const walk = await walkPages("ListLoadBalancers", async (pageToken) => {
    const request = { pageSize: list?.maxPageSize ?? 0, pageToken };
    const answered = await session.call(RPCS.listLoadBalancers, (context) => ({ context, ...request }), options);
    const { response } = answered;
    return {
      ...response,
      items: response.loadBalancers.map((wire) => loadBalancerFromProto(wire)),
      problem: session.scopeProblem(answered, response.scopeId),
    };
  });
  const items = walk.items.filter((item) => item !== undefined);
  return { ...walk, items, complete: walk.complete && items.length === walk.items.length };
}

/**
 * Nodes that are in force already are sent as a fingerprint, many nodes by reference to a set; whole where the provider has forgotten
 * either, as after a restart.
 */
async function ensureLoadBalancer(
  session: Session,
  sets: NodeSets,
  input: EnsureLoadBalancerInput,
  options: ChangeOptions,
): Promise<LoadBalancerChange> {
  const { nodes, acknowledgedNodes } = input;
  const send = (selection: NodeSelection, sendOptions: ChangeOptions) =>
    ensureAsGiven(session, { ...input, nodes: selection }, sendOptions);
  if (acknowledgedNodes !== nodes.fingerprint) return sendNodes(session, sets, nodes, options, send);
  try {
    return await send({ ...nodes, source: { kind: "unchanged" } }, options);
  } catch (error) {
    if (!isUnresolved(error)) throw error;
    return sendNodes(session, sets, nodes, anew(options), send);
  }
}

/** By reference where that is worth it and works, else whole. */
async function sendNodes(
  session: Session,
  sets: NodeSets,
  nodes: NodeSelection,
  options: ChangeOptions,
  send: (selection: NodeSelection, options: ChangeOptions) => Promise<LoadBalancerChange>,
): Promise<LoadBalancerChange> {
  const { nodeSets } = await session.capability("loadBalancers", options.signal);
  if (!sets.isFit(nodes, nodeSets)) return send(nodes, options);
  try {
    return await send(await sets.reference(nodes, options), options);
  } catch (error) {
    if (!isUnresolved(error)) throw error;
    if (!sets.forget(nodes)) return sendWhole(session, nodes, options, send, error);
  }
  try {
    return await send(await sets.reference(nodes, options), anew(options));
  } catch (error) {
    if (!isUnresolved(error)) throw error;
    return sendWhole(session, nodes, options, send, error);
  }
}

/** Where they are too many for that, `unresolved` is what is wrong: it passes, and is tried again soon. */
async function sendWhole(
  session: Session,
  nodes: NodeSelection,
  options: ChangeOptions,
  send: (selection: NodeSelection, options: ChangeOptions) => Promise<LoadBalancerChange>,
  unresolved: ProviderError,
): Promise<LoadBalancerChange> {
  if (isTooMany(nodes, await session.limits(options.signal))) throw unresolved;
  return send(nodes, anew(options));
}

/** Another request than the one refused, so with an id of its own. */
function anew(options: ChangeOptions): ChangeOptions {
  const { requestId: _, ...rest } = options;
  return rest;
}

async function ensureAsGiven(
  session: Session,
  input: EnsureLoadBalancerInput,
  options: ChangeOptions,
): Promise<LoadBalancerChange> {
  const { adoptLoadBalancerId } = input;
  refuseTooMany(session, input.nodes, await session.limits(options.signal));
  const answered = await session.change(
    RPCS.ensureLoadBalancer,
    (context, change) => ({
      context,
      change,
      service: serviceRefToProto(input.service),
      spec: loadBalancerSpecToProto(input.spec),
      specFingerprint: input.specFingerprint,
      nodes: nodeSelectionToProto(input.nodes),
      operationId: input.operationId ?? "",
      adopt: adoptLoadBalancerId === undefined ? undefined : { loadBalancerId: adoptLoadBalancerId },
    }),
    options,
  );
  return changeOf(session, answered, input, options);
}

/** As {@link ensureLoadBalancer} sends nodes. */
async function updateLoadBalancerNodes(
  session: Session,
  sets: NodeSets,
  input: UpdateNodesInput,
  options: ChangeOptions,
): Promise<LoadBalancerChange> {
  return sendNodes(session, sets, input.nodes, options, (nodes, sendOptions) =>
    updateAsGiven(session, { ...input, nodes }, sendOptions),
  );
}

async function updateAsGiven(
  session: Session,
  input: UpdateNodesInput,
  options: ChangeOptions,
): Promise<LoadBalancerChange> {
  refuseTooMany(session, input.nodes, await session.limits(options.signal));
  const { operationId: _, ...ref } = loadBalancerRefToProto(input);
  const nodes = nodeSelectionToProto(input.nodes);
  const loadBalancerId = input.loadBalancerId ?? "";
  const answered = await session.change(
    RPCS.updateLoadBalancerNodes,
    (context, change) => ({ context, change, ...ref, loadBalancerId, nodes }),
    options,
  );
  return changeOf(session, answered, input, options);
}

async function deleteLoadBalancer(
  session: Session,
  ref: LoadBalancerRef,
  options: ChangeOptions,
): Promise<LoadBalancerDeletion> {
  const loadBalancerId = ref.loadBalancerId ?? "";
  const { response } = await session.change(
    RPCS.deleteLoadBalancer,
    (context, change) => ({ context, change, ...loadBalancerRefToProto(ref), loadBalancerId }),
    options,
  );
  return loadBalancerDeletionFromProto(response);
}

async function applyNodeSet(session: Session, chunk: NodeSetChunk, options: CallOptions): Promise<NodeSetState> {
  const request = nodeSetChunkToProto(chunk);
  const { response } = await session.call(RPCS.applyNodeSet, (context) => ({ context, ...request }), options);
  return response;
}

/** The provider would refuse them all the same, with less to go by. */
function refuseTooMany(session: Session, nodes: NodeSelection, limits: Limits): void {
  if (!isTooMany(nodes, limits)) return;
  const what = `${nodes.count} nodes were not sent`;
  const message = `provider ${session.provider}: ${what}: it takes at most ${limits.maxInlineNodes} in one call (limits.max_inline_nodes)`;
  throw contractError("FIELD_TOO_LARGE", message);
}

function isTooMany({ source }: NodeSelection, { maxInlineNodes }: Limits): boolean {
  return source.kind === "inline" && source.nodes.length > maxInlineNodes;
}

function changeOf(
  session: Session,
  answered: Answered<Parameters<typeof loadBalancerChangeFromProto>[0]>,
  { service, nodes }: { readonly service: ServiceRef; readonly nodes: NodeSelection },
  { validateOnly = false }: ChangeOptions,
): LoadBalancerChange {
  const change = loadBalancerChangeFromProto(answered.response, service, { validateOnly });
  if (typeof change === "string") throw broken(session, answered, service, change);
  return { ...change, diagnostics: [...leftOut(nodes), ...change.diagnostics] };
}

function leftOut({ leftOut: nodes = [] }: NodeSelection): readonly Diagnostic[] {
  if (nodes.length === 0) return [];
  const summary = `${nodes.length} faults make nodes unfit as targets; they are left out: ${nodes.slice(0, 3).join("; ")}`;
  return [{ severity: "warning", reason: "NodesLeftOut", summary, detail: "", field: "nodes", helpUrl: "" }];
}

function broken(session: Session, { requestId }: Answered<unknown>, service: ServiceRef, why: string) {
  const about = `${session.provider}: load balancer of ${service.namespace}/${service.name}`;
  return brokenAnswer(why, about, requestId);
}
