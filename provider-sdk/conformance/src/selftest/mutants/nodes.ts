import type {
  ApplyNodeSetRequest,
  ApplyNodeSetResponse,
  LoadBalancer,
  NodeSelection,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { methods } from "../../contract/methods.ts";
import { frame } from "../../endpoint/frames.ts";
import { alterResponse, bareError, suppressErrors, isCall, type Mutant, okReply, requestOf } from "../mutant.ts";
import type { Intercept } from "../mutant-proxy.ts";

const apply = methods.applyNodeSet;
const ensure = methods.ensureLoadBalancer;
const update = methods.updateLoadBalancerNodes;

/** Changes what is said of a set, by what was asked. */
const reported =
  (alter: (answer: ApplyNodeSetResponse, asked: ApplyNodeSetRequest) => ApplyNodeSetResponse): Intercept =>
  async (request, next) => {
    const asked = requestOf(request, apply);
    return asked === undefined ? next(request) : alterResponse(apply, (answer) => alter(answer, asked))(request, next);
  };

/** Changes the nodes that Ensure asks for. */
export const selected =
  (alter: (nodes: NodeSelection) => NodeSelection): Intercept =>
  async (request, next) => {
    const asked = requestOf(request, ensure);
    if (asked?.nodes === undefined) return next(request);
    const altered = { ...asked, nodes: alter(asked.nodes) };
    return next({ ...request, body: frame(ensure.requestType.encode(altered).finish()) });
  };

export const noNodes = (nodes: NodeSelection): NodeSelection => ({
  fingerprint: nodes.fingerprint,
  count: 0,
  source: { $case: "inline", value: { nodes: [] } },
});

/** Changes the load balancer in the response to a change. */
const loadBalancerOf = <Message extends { readonly loadBalancer: LoadBalancer | undefined }>(
  method: Parameters<typeof alterResponse<Message>>[0],
  alter: (loadBalancer: LoadBalancer) => LoadBalancer,
): Intercept =>
  alterResponse(method, (answer) => ({ ...answer, loadBalancer: answer.loadBalancer && alter(answer.loadBalancer) }));

const sets: readonly Mutant[] = [
  {
    name: "set-eager",
    fault: "a set is in force with its first chunk",
    fails: ["nset.atomic", "nset.full", "nset.order", "nset.unknown-ref"],
    intercept: reported((answer, { targetFingerprint: fingerprint }) => ({ ...answer, fingerprint, committed: true })),
  },
  {
    name: "set-in-order",
    fault: "chunks are taken in their order only",
    fails: ["nset.order"],
    intercept: async (request, next) => {
      const asked = requestOf(request, apply);
      return asked?.chunkIndex === 2 && asked.upserts[0]?.name === "node-2" ? bareError(9, "not yet") : next(request);
    },
  },
  {
    name: "delta-replaces",
    fault: "a difference is taken for the whole",
    fails: ["nset.delta"],
    intercept: reported((answer, asked) =>
      asked.removedProviderIds.length > 0 ? { ...answer, count: asked.upserts.length } : answer,
    ),
  },
  {
    name: "base-ignored",
    fault: "a difference is applied to any base",
    fails: ["nset.base-mismatch"],
    intercept: suppressErrors(apply.name, ({ reason }) => reason === "NODE_SET_BASE_MISMATCH"),
  },
  {
    name: "count-ignored",
    fault: "the nodes of a set are not counted",
    fails: ["nset.count-mismatch"],
    intercept: suppressErrors(apply.name, ({ reason }) => reason === "NODE_SET_INTEGRITY"),
  },
  {
    name: "few-sets",
    fault: "fewer sets are kept than the handshake says",
    fails: ["nset.many"],
    // Each check that sees it waits until its time is up.
    only: ["nset.many"],
    intercept: alterResponse(methods.getProviderInfo, (info) => {
      const { loadBalancers } = info.capabilities ?? {};
      if (info.capabilities === undefined || loadBalancers?.nodeSets === undefined) return info;
      const nodeSets = { ...loadBalancers.nodeSets, maxSets: loadBalancers.nodeSets.maxSets * 2 };
      return { ...info, capabilities: { ...info.capabilities, loadBalancers: { ...loadBalancers, nodeSets } } };
    }),
  },
  {
    name: "unknown-set-empty",
    fault: "a set that is not known is empty",
    fails: ["nset.atomic", "nset.same-as-inline", "nset.unknown-ref"],
    level: "M",
    intercept: selected((nodes) => (nodes.source?.$case === "nodeSetId" ? noNodes(nodes) : nodes)),
  },
  {
    name: "set-half-visible",
    fault: "a set is what has come of it so far",
    fails: ["nset.atomic", "nset.full", "nset.order", "nset.unknown-ref", "val.fields.apply-node-set"],
    level: "M",
    intercept: async (request, next) => {
      const asked = requestOf(request, apply);
      if (asked === undefined || asked.chunkCount === 1) return next(request);
      const alone = { ...asked, chunkIndex: 0, chunkCount: 1, targetCount: asked.upserts.length + 1 };
      return next({ ...request, body: frame(apply.requestType.encode(alone).finish()) });
    },
  },
  {
    name: "set-loses-nodes",
    fault: "nodes of a set do not get to the load balancer",
    fails: ["nset.atomic", "nset.same-as-inline", "nset.unknown-ref"],
    level: "M",
    intercept: selected((nodes) => (nodes.source?.$case === "nodeSetId" ? noNodes(nodes) : nodes)),
  },
];

const targets: readonly Mutant[] = [
  {
    name: "nodes-ignored",
    fault: "Ensure makes load balancers without targets",
    fails: [
      "lb.ensure.refused",
      "lb.nodes.count",
      "lb.nodes.ensure",
      "lb.nodes.no-source",
      "lb.nodes.unchanged-mismatch",
      "lb.nodes.unknown-node",
      "nset.atomic",
      "nset.unknown-ref",
    ],
    level: "M",
    intercept: selected(noNodes),
  },
  {
    name: "silent-about-nodes",
    fault: "a node that could not be registered is not reported",
    fails: ["lb.nodes.unknown-node"],
    level: "M",
    intercept: loadBalancerOf(ensure, (one) => ({ ...one, unregisteredNodes: [] })),
  },
  {
    name: "acknowledges-partial",
    fault: "nodes that are not all targets are acknowledged",
    fails: ["lb.nodes.unknown-node"],
    level: "M",
    intercept: loadBalancerOf(ensure, (one) => ({
      ...one,
      nodesFingerprint: one.unregisteredNodes.length === 0 ? one.nodesFingerprint : "acknowledged",
    })),
  },
  {
    name: "previous-is-present",
    fault: "the observed fingerprint of before an update of the nodes is the one after it",
    fails: ["lb.nodes.previous-observed"],
    level: "M",
    intercept: loadBalancerOf(update, (one) => ({ ...one, previousObservedFingerprint: one.observedFingerprint })),
  },
  {
    name: "update-ignored",
    fault: "UpdateLoadBalancerNodes does nothing",
    fails: [
      "err.frame.garbage",
      "lb.nodes.hints",
      "lb.nodes.missing-lb",
      "lb.nodes.remove",
      "lb.nodes.stale",
      "lb.nodes.update",
      "val.cluster.missing",
      "val.fields.update-load-balancer-nodes",
      "val.scope.mismatch",
    ],
    level: "M",
    intercept: async (request, next) => (isCall(request, update.name) ? okReply(Buffer.alloc(0)) : next(request)),
  },
  {
    name: "unchanged-trusting",
    fault: "`unchanged` is taken on trust",
    fails: ["lb.nodes.unchanged", "lb.nodes.unchanged-mismatch"],
    level: "M",
    intercept: selected((nodes) => (nodes.source?.$case === "unchanged" ? noNodes(nodes) : nodes)),
  },
  {
    name: "no-node-count",
    fault: "the number of nodes is not looked at",
    fails: ["lb.nodes.count", "lb.nodes.ensure", "lb.nodes.unchanged", "lb.nodes.unknown-node", "nset.same-as-inline"],
    level: "M",
    intercept: selected((nodes) => (nodes.source?.$case === "inline" ? noNodes(nodes) : nodes)),
  },
];

/** Faults of nodes, one by one and in sets. */
export const nodeMutants: readonly Mutant[] = [...sets, ...targets];
