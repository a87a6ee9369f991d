import { type ChangeContext, Diagnostic, Severity } from "@cloudwire/proto/cloudprovider/v1/common";
import { methods } from "../../contract/methods.ts";
import { frame } from "../../endpoint/frames.ts";
import { alterResponse, bareError, errorParts, isCall, type Mutant, okReply, requestOf } from "../mutant.ts";
import type { Intercept } from "../mutant-proxy.ts";
import { isFirst } from "./load-balancers.ts";
import { noNodes, selected } from "./nodes.ts";

const level = "M";
const remove = methods.deleteLoadBalancer;
const update = methods.updateLoadBalancerNodes;
const ensure = methods.ensureLoadBalancer;

/** Changes what a deletion says of itself. */
const deletion =
  (alter: (change: ChangeContext) => ChangeContext): Intercept =>
  async (request, next) => {
    const asked = requestOf(request, remove);
    if (asked?.change === undefined) return next(request);
    const altered = { ...asked, change: alter(asked.change) };
    return next({ ...request, body: frame(remove.requestType.encode(altered).finish()) });
  };

/** Changes what an update of nodes says of itself. */
const nodeUpdate =
  (alter: (change: ChangeContext) => ChangeContext): Intercept =>
  async (request, next) => {
    const asked = requestOf(request, update);
    if (asked?.change === undefined) return next(request);
    const altered = { ...asked, change: alter(asked.change) };
    return next({ ...request, body: frame(update.requestType.encode(altered).finish()) });
  };

const withoutSequence = (change: ChangeContext): ChangeContext => ({ ...change, sequence: 0n });
const meant = (change: ChangeContext): ChangeContext => ({ ...change, validateOnly: false });

const seen = new Set<string>();

/** Refuses a request_id that it has seen. */
const once =
  (method: typeof remove | typeof update): Intercept =>
  async (request, next) => {
    const asked = requestOf<{ readonly change: ChangeContext | undefined }>(request, method);
    const id = asked?.change?.requestId;
    return id === undefined || isFirst(seen, `${method.name} ${id}`) ? next(request) : bareError(6, "asked before");
  };

const isOdd = (loadBalancerClass: string | undefined): boolean => loadBalancerClass === "conformance.example.com/none";

/** Rejects a call with a class that no provider serves. */
const strictAbout =
  (method: typeof remove | typeof update | typeof methods.getLoadBalancer): Intercept =>
  async (request, next) =>
    isOdd(requestOf<{ readonly class?: string | undefined }>(request, method)?.class)
      ? bareError(3, "unknown class")
      : next(request);

const ordered: readonly Mutant[] = [
  {
    name: "late-deletion-wins",
    fault: "a deletion that was superseded is carried out",
    fails: ["lb.delete.stale"],
    level,
    intercept: deletion(withoutSequence),
  },
  {
    name: "late-nodes-win",
    fault: "nodes that were superseded are set",
    fails: ["lb.nodes.stale"],
    level,
    intercept: nodeUpdate(withoutSequence),
  },
  {
    name: "deletion-asked-before",
    fault: "a deletion whose request_id came before is refused",
    fails: ["lb.delete.request-id"],
    level,
    // Most checks see it, and which of them fail depends on what ran before.
    only: ["lb.delete.request-id"],
    intercept: once(remove),
  },
  {
    name: "nodes-asked-before",
    fault: "an update of nodes whose request_id came before is refused",
    fails: ["lb.nodes.request-id"],
    level,
    // Most checks see it, and which of them fail depends on what ran before.
    only: ["lb.nodes.request-id"],
    intercept: once(update),
  },
  {
    name: "protection-ignored",
    fault: "what is protected is deleted",
    fails: ["lb.delete.protected"],
    level,
    intercept: async (request, next) => {
      const reply = await next(request);
      const isProtected = errorParts(reply)?.reason === "DELETION_PROTECTED";
      const { responseType } = remove;
      return isProtected ? okReply(responseType.encode(responseType.fromPartial({ done: true })).finish()) : reply;
    },
  },
];

const hinted: readonly Mutant[] = [
  {
    name: "get-by-class",
    fault: "a read with an unknown class is refused",
    fails: ["lb.get.hints"],
    intercept: strictAbout(methods.getLoadBalancer),
  },
  {
    name: "delete-by-class",
    fault: "a deletion with an unknown class is refused",
    fails: ["lb.delete.hints"],
    intercept: strictAbout(remove),
  },
  {
    name: "nodes-by-class",
    fault: "nodes with an unknown class are refused",
    fails: ["lb.nodes.hints"],
    intercept: strictAbout(update),
  },
];

const questions: readonly Mutant[] = [
  {
    name: "plans-nothing",
    fault: "the plan does not report what would change",
    fails: ["lb.validate.plan"],
    level,
    intercept: alterResponse(ensure, (answer) => ({ ...answer, plannedChanges: [] })),
  },
  {
    name: "dry-run-deletes",
    fault: "validate_only deletes",
    fails: ["lb.validate.delete"],
    level,
    intercept: deletion(meant),
  },
  {
    name: "dry-run-nodes",
    fault: "validate_only sets nodes",
    fails: ["lb.validate.nodes"],
    level,
    intercept: nodeUpdate(meant),
  },
];

const nodes: readonly Mutant[] = [
  {
    name: "diag-blank",
    fault: "a diagnostic has no reason",
    fails: ["lb.diag.shape"],
    level,
    intercept: alterResponse(ensure, (answer) => ({
      ...answer,
      diagnostics: [Diagnostic.fromPartial({ severity: Severity.WARNING, summary: "An instance is missing." })],
    })),
  },
  {
    name: "nodes-append-only",
    fault: "nodes are never taken out",
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
    level,
    intercept: async (request, next) => (isCall(request, update.name) ? okReply(Buffer.alloc(0)) : next(request)),
  },
  {
    name: "unchanged-is-none",
    fault: "unchanged nodes are none",
    fails: ["lb.nodes.unchanged", "lb.nodes.unchanged-mismatch"],
    level,
    intercept: selected((asked) => (asked.source?.$case === "unchanged" ? noNodes(asked) : asked)),
  },
];

/** Faults of how changes of load balancers are ordered, repeated, asked about and hinted at. */
export const balancerChangeMutants: readonly Mutant[] = [...ordered, ...hinted, ...questions, ...nodes];
