import {
  type EnsureLoadBalancerRequest,
  type LoadBalancer,
  LoadBalancerPhase,
} from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { toDuration } from "../../contract/duration.ts";
import { methods } from "../../contract/methods.ts";
import { frame } from "../../endpoint/frames.ts";
import { alterResponse, bareError, isCall, type Mutant, okReply, requestOf } from "../mutant.ts";
import type { Intercept, ProxiedRequest } from "../mutant-proxy.ts";

const ensure = methods.ensureLoadBalancer;
const remove = methods.deleteLoadBalancer;

type Asked = EnsureLoadBalancerRequest;

/** Changes the load balancer that Ensure answers, by what was asked. */
export const made =
  (alter: (balancer: LoadBalancer, asked: Asked) => LoadBalancer): Intercept =>
  async (request, next) => {
    const asked = requestOf(request, ensure);
    if (asked === undefined) return next(request);
    return alterResponse(ensure, (answer) => ({
      ...answer,
      loadBalancer: answer.loadBalancer && alter(answer.loadBalancer, asked),
    }))(request, next);
  };

/** Changes what Ensure asks for. */
export const ensureRequests =
  (alter: (asked: Asked) => Asked): Intercept =>
  async (request, next) => {
    const asked = requestOf(request, ensure);
    return next(asked === undefined ? request : withRequest(request, alter(asked)));
  };

const withRequest = (request: ProxiedRequest, asked: Asked): ProxiedRequest => ({
  ...request,
  body: frame(ensure.requestType.encode(asked).finish()),
});

/** Refuses an Ensure that meets a condition. */
export const refused =
  (condition: (asked: Asked) => boolean): Intercept =>
  async (request, next) => {
    const asked = requestOf(request, ensure);
    return asked !== undefined && condition(asked) ? bareError(9, "no") : next(request);
  };

const anotherId = (balancer: LoadBalancer, suffix: string): LoadBalancer => ({ ...balancer, id: balancer.id + suffix });

const seenServices = new Set<string>();
const seenRequests = new Set<string>();
const seenDeletions = new Set<string>();
const deleted = new Set<string>();
let makings = 0;

export const isFirst = (seen: Set<string>, key: string): boolean => {
  if (seen.has(key)) return false;
  seen.add(key);
  return true;
};

const level = "M";

const making: readonly Mutant[] = [
  {
    name: "never-active",
    fault: "a load balancer never serves",
    fails: ["lb.ensure.active"],
    level,
    intercept: made((balancer) => ({
      ...balancer,
      phase: LoadBalancerPhase.PROVISIONING,
      operation: { ...noOperation, pollAfter: toDuration(50) },
    })),
  },
  {
    name: "blocking-delete",
    fault: "a deletion waits for the cloud, and the handshake says that it does not",
    fails: ["lb.ensure.fast"],
    level,
    // Every other check would wait for each of its deletions.
    only: ["lb.ensure.fast"],
    intercept: async (request, next) => {
      const reply = alterResponse(methods.getProviderInfo, (info) => ({
        ...info,
        limits: info.limits && { ...info.limits, softCallDuration: toDuration(100) },
      }))(request, next);
      if (isCall(request, remove.name)) await new Promise((resolve) => setTimeout(resolve, 2_300));
      return reply;
    },
  },
  {
    name: "pending-no-hint",
    fault: "unfinished work does not say when to ask again",
    fails: ["lb.ensure.pending-shape"],
    level,
    intercept: made((balancer, { service }) =>
      isFirst(seenServices, service?.uid ?? "") ? { ...balancer, phase: LoadBalancerPhase.PROVISIONING } : balancer,
    ),
  },
  {
    name: "no-echo",
    fault: "Ensure keeps no fingerprint of the spec",
    fails: [
      "lb.ensure.echo",
      "lb.ensure.ports",
      "lb.ensure.session-affinity",
      "lb.ensure.source-ranges",
      "lb.ensure.stale",
      "lb.nodes.update",
      "lb.validate.no-effect",
    ],
    level,
    intercept: made((balancer) => ({ ...balancer, specFingerprint: "" })),
  },
  {
    name: "needs-nodes",
    fault: "a load balancer without nodes is refused",
    fails: ["lb.ensure.zero-nodes"],
    level,
    // Most checks make load balancers without nodes: lb.ensure.active would fail, and block the one that says why.
    only: ["lb.ensure.zero-nodes"],
    intercept: refused(({ nodes }) => nodes?.count === 0),
  },
];

const noOperation = { id: "", stage: "", startTime: undefined, expectedEndTime: undefined, message: "" };

const repeating: readonly Mutant[] = [
  {
    name: "create-each-time",
    fault: "each Ensure makes another load balancer",
    fails: [
      "conc.ensure.others",
      "conc.ensure.same",
      "lb.adopt",
      "lb.cluster.isolated",
      "lb.ensure.idempotent",
      "lb.ensure.lost-op",
      "lb.ensure.port-order",
      "lb.ensure.ports",
      "lb.ensure.request-id",
      "lb.ensure.session-affinity",
      "lb.ensure.source-ranges",
      "lb.get.equals",
      "lb.nodes.update",
      "nset.same-as-inline",
      "time.cancel.adopts",
    ],
    level,
    intercept: made((balancer) => anotherId(balancer, `-${makings++}`)),
  },
  {
    name: "request-id-conflict",
    fault: "a request_id that comes again is refused",
    fails: ["lb.ensure.request-id"],
    level,
    // Most checks see it, and which of them fail depends on what ran before.
    only: ["lb.ensure.request-id"],
    intercept: refused(({ change }) => !isFirst(seenRequests, change?.requestId ?? "")),
  },
  {
    name: "ports-recreate",
    fault: "other ports make another load balancer",
    fails: [
      "conc.ensure.others",
      "conc.ensure.same",
      "lb.adopt",
      "lb.cluster.isolated",
      "lb.ensure.idempotent",
      "lb.ensure.ports",
      "lb.get.equals",
      "lb.nodes.update",
      "time.cancel.adopts",
    ],
    level,
    intercept: made((balancer, { spec }) => anotherId(balancer, `-${spec?.ports.length ?? 0}`)),
  },
  {
    name: "order-sensitive",
    fault: "ports in another order are another configuration",
    fails: ["lb.ensure.port-order"],
    level,
    // Each check that sees it waits until its time is up.
    only: ["lb.ensure.port-order"],
    intercept: made((balancer, { spec }) => ({
      ...balancer,
      observedFingerprint: (spec?.ports ?? []).map(({ port }) => port).join(" "),
    })),
  },
  {
    name: "last-write-wins",
    fault: "a change that was superseded is made anyway",
    fails: ["lb.delete.stale", "lb.ensure.stale", "lb.nodes.stale"],
    level,
    intercept: ensureRequests((asked) => ({ ...asked, change: asked.change && { ...asked.change, sequence: 0n } })),
  },
  {
    name: "dry-run-wet",
    fault: "validate_only makes what it should check",
    fails: ["lb.validate.no-effect", "lb.validate.plan"],
    level,
    intercept: ensureRequests((asked) => ({
      ...asked,
      change: asked.change && { ...asked.change, validateOnly: false },
    })),
  },
];

const reading: readonly Mutant[] = [
  {
    name: "get-other-id",
    fault: "Get answers another id than Ensure",
    fails: ["lb.get.equals", "lb.list.one", "lb.nodes.update", "lb.watch.initial.equals-get"],
    level,
    intercept: alterResponse(methods.getLoadBalancer, (answer) => ({
      ...answer,
      outcome:
        answer.outcome?.$case === "loadBalancer"
          ? ({ $case: "loadBalancer", value: anotherId(answer.outcome.value, "-get") } as const)
          : answer.outcome,
    })),
  },
  {
    name: "list-no-ref",
    fault: "listed load balancers do not say whose they are",
    fails: [
      "conc.ensure.others",
      "conc.ensure.same",
      "lb.cluster.isolated",
      "lb.ensure.idempotent",
      "lb.ensure.ports",
      "lb.list.one",
      "time.cancel.adopts",
    ],
    level,
    intercept: alterResponse(methods.listLoadBalancers, (answer) => ({
      ...answer,
      loadBalancers: answer.loadBalancers.map((balancer) => ({ ...balancer, service: undefined })),
    })),
  },
  {
    name: "uid-only-key",
    fault: "load balancers are distinguished by their Service alone",
    fails: ["lb.cluster.isolated"],
    level,
    only: ["lb.cluster.isolated"],
    intercept: ensureRequests((asked) => ({
      ...asked,
      context: asked.context && { ...asked.context, cluster: { id: "conformance-one-for-all", name: "", tags: {} } },
    })),
  },
];

const deleting: readonly Mutant[] = [
  {
    name: "delete-lies",
    fault: "a deletion is done before anything is gone",
    fails: ["lb.delete.gone", "lb.delete.mid-create"],
    level,
    // Each check that sees it waits until its time is up.
    only: ["lb.delete.gone", "lb.delete.mid-create"],
    intercept: async (request, next) =>
      isCall(request, remove.name)
        ? okReply(remove.responseType.encode(remove.responseType.fromPartial({ done: true })).finish())
        : next(request),
  },
  {
    name: "delete-once",
    fault: "the second deletion fails",
    fails: ["lb.delete.idempotent"],
    level,
    // Most checks see it, and which of them fail depends on what ran before.
    only: ["lb.delete.idempotent"],
    intercept: async (request, next) => {
      const asked = requestOf(request, remove);
      if (asked === undefined || isFirst(seenDeletions, asked.service?.uid ?? "")) return next(request);
      return bareError(5, "there is none");
    },
  },
  {
    name: "tombstoned-uid",
    fault: "a Service gets a load balancer once in its life",
    fails: ["lb.recreate"],
    level,
    // Most checks see it, and which of them fail depends on what ran before.
    only: ["lb.recreate"],
    intercept: async (request, next) => {
      const asked = requestOf(request, remove);
      if (asked !== undefined) deleted.add(asked.service?.uid ?? "");
      return refused(({ service }) => deleted.has(service?.uid ?? ""))(request, next);
    },
  },
];

/** Faults of load balancers that are made, changed and removed. */
export const balancerMutants: readonly Mutant[] = [...making, ...repeating, ...reading, ...deleting];
