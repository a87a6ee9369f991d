import type {
  BatchDeleteRoutesRequest,
  BatchEnsureRoutesRequest,
  RouteResult,
} from "@cloudwire/proto/cloudprovider/v1/route";
import { methods } from "../../contract/methods.ts";
import { frame } from "../../endpoint/frames.ts";
import type { Intercept } from "../mutant-proxy.ts";
import { type Mutant, alterResponse, bareError, suppressErrors, isCall, okReply, requestOf } from "../mutant.ts";
import { isFirst } from "./load-balancers.ts";

const ensure = methods.batchEnsureRoutes;
const remove = methods.batchDeleteRoutes;
const list = methods.listRoutes;
const level = "M";

const asked =
  (alter: (request: BatchEnsureRoutesRequest) => BatchEnsureRoutesRequest): Intercept =>
  async (request, next) => {
    const wanted = requestOf(request, ensure);
    return next(
      wanted === undefined ? request : { ...request, body: frame(ensure.requestType.encode(alter(wanted)).finish()) },
    );
  };

const deletion =
  (alter: (request: BatchDeleteRoutesRequest) => BatchDeleteRoutesRequest): Intercept =>
  async (request, next) => {
    const wanted = requestOf(request, remove);
    return next(
      wanted === undefined ? request : { ...request, body: frame(remove.requestType.encode(alter(wanted)).finish()) },
    );
  };

/** As if the first cluster that ever called were the only one. */
const oneForAll = <Request extends BatchEnsureRoutesRequest | BatchDeleteRoutesRequest>(
  request: Request,
  suffix: string,
): Request => {
  const { context } = request;
  if (context?.cluster === undefined) return request;
  const id = context.cluster.id.replace("-other", "") + suffix;
  return { ...request, context: { ...context, cluster: { ...context.cluster, id } } };
};

const targets = new Map<string, string>();

/** The machine to which a range of a cluster led first. */
const firstTarget = (cluster: string, cidr: string, target: string): string => {
  const key = `${cluster} ${cidr}`;
  targets.set(key, targets.get(key) ?? target);
  return targets.get(key) ?? target;
};

const owned: readonly Mutant[] = [
  {
    name: "route-overwrites",
    fault: "another cluster's route is replaced in silence",
    fails: ["route.conflict"],
    level,
    // Most checks see it, and which of them fail depends on what ran before.
    only: ["route.conflict"],
    intercept: asked((request) => oneForAll(request, "-other")),
  },
  {
    name: "route-never-moves",
    fault: "a route stays with the machine that it led to first",
    fails: ["route.retarget"],
    level,
    // It remembers, so which others fail depends on what ran before.
    only: ["route.retarget"],
    intercept: asked((request) => ({
      ...request,
      routes: request.routes.map((route) => ({
        ...route,
        targetProviderId: firstTarget(
          request.context?.cluster?.id ?? "",
          route.destinationCidr,
          route.targetProviderId,
        ),
      })),
    })),
  },
  {
    name: "route-deletes-all",
    fault: "routes of all clusters are deleted by their range",
    fails: ["route.delete.foreign"],
    level,
    // Each check that sees it waits until its time is up.
    only: ["route.delete.foreign"],
    intercept: deletion((request) => oneForAll(request, "-other")),
  },
  {
    name: "deletion-needs-target",
    fault: "a deletion has to name the machine",
    fails: ["route.delete.by-range"],
    level,
    intercept: async (request, next) =>
      requestOf(request, remove)?.routes.some(({ targetProviderId }) => targetProviderId === "") === true
        ? bareError(3, "target_provider_id is required")
        : next(request),
  },
];

const seen = new Set<string>();

const changed: readonly Mutant[] = [
  {
    name: "late-route-wins",
    fault: "routes that were superseded are made",
    fails: ["route.stale"],
    level,
    intercept: asked((request) => ({ ...request, change: request.change && { ...request.change, sequence: 0n } })),
  },
  {
    name: "routes-asked-before",
    fault: "routes whose request_id came before are refused",
    fails: ["route.request-id"],
    level,
    // Most checks see it, and which of them fail depends on what ran before.
    only: ["route.request-id"],
    intercept: async (request, next) => {
      const id = requestOf(request, ensure)?.change?.requestId;
      return id === undefined || isFirst(seen, id) ? next(request) : bareError(6, "asked before");
    },
  },
  {
    name: "quota-of-nothing",
    fault: "the table is said to be empty",
    fails: ["route.quota"],
    level,
    intercept: alterResponse(list, (answer) => ({ ...answer, quota: { limit: 100, used: 0 } })),
  },
  {
    name: "route-v4",
    fault: "IPv6 ranges are written out in lists",
    fails: ["route.ipv6"],
    level,
    intercept: alterResponse(list, (answer) => ({
      ...answer,
      routes: answer.routes.map((route) => ({
        ...route,
        destinationCidr: route.destinationCidr.replace("2001:db8:c0f0::/64", "2001:0db8:c0f0:0:0:0:0:0/64"),
      })),
    })),
  },
  {
    name: "dry-run-routes",
    fault: "validate_only makes routes",
    fails: ["route.validate.no-effect"],
    level,
    intercept: asked((request) => ({
      ...request,
      change: request.change && { ...request.change, validateOnly: false },
    })),
  },
  {
    name: "dry-run-blind",
    fault: "validate_only finds nothing wrong with routes",
    fails: ["compat.golden", "compat.v1-0-client", "route.validate.same-errors"],
    level,
    intercept: async (request, next) => {
      const wanted = requestOf(request, ensure);
      if (wanted?.change?.validateOnly !== true) return next(request);
      const results = wanted.routes.map((value) => ({ outcome: { $case: "route", value } as const }));
      return alterResponse(ensure, (answer) => ({ ...answer, results }))(request, next);
    },
  },
];

const lenient: readonly Mutant[] = [
  {
    name: "route-any-cidr",
    fault: "any text is a range",
    fails: ["route.bad-cidr", "val.fields.batch-ensure-routes"],
    intercept: suppressErrors(ensure.name, ({ fields }) => fields.some((path) => path.endsWith("destination_cidr"))),
  },
  {
    name: "route-to-nowhere",
    fault: "routes without target are made",
    fails: ["route.no-target", "val.fields.batch-ensure-routes"],
    intercept: suppressErrors(ensure.name, ({ fields }) => fields.some((path) => path.endsWith("target_provider_id"))),
  },
];

/** Faults of whose routes are whose, of the order of changes, and of what is let pass. */
export const routeMutants: readonly Mutant[] = [...owned, ...changed, ...lenient];

const results = (alter: (results: RouteResult[]) => RouteResult[]): Intercept =>
  alterResponse(ensure, (answer) => ({ ...answer, results: alter(answer.results) }));

/** A range and a cluster that were ensured already. */
const ensured = new Set<string>();

const routes: readonly Mutant[] = [
  {
    name: "route-no-id",
    fault: "routes are listed without id",
    fails: ["route.create"],
    level,
    intercept: alterResponse(list, (answer) => ({
      ...answer,
      routes: answer.routes.map((route) => ({ ...route, id: "" })),
    })),
  },
  {
    name: "route-conflicts-with-itself",
    fault: "a route that is there already is an error",
    fails: ["route.idempotent"],
    level,
    // Most checks see it, and which of them fail depends on what ran before.
    only: ["route.idempotent"],
    intercept: async (request, next) => {
      const asked = requestOf(request, ensure);
      if (asked === undefined) return next(request);
      const key = `${asked.context?.cluster?.id}/${asked.routes[0]?.destinationCidr}`;
      if (ensured.has(key)) return bareError(6, "it is there");
      ensured.add(key);
      return next(request);
    },
  },
  {
    name: "route-atomic",
    fault: "one route that cannot be made is the failure of all",
    fails: ["route.conflict", "route.stale", "route.unknown-target"],
    level,
    intercept: results((all) => {
      const failed = all.find(({ outcome }) => outcome?.$case === "error");
      return failed === undefined ? all : all.map(() => failed);
    }),
  },
  {
    name: "route-keeps",
    fault: "a deletion of a route removes nothing",
    fails: ["route.delete", "route.delete.by-range", "val.fields.batch-delete-routes"],
    // What stays blocks other checks: which ones depends on their order.
    only: ["route.delete", "route.delete.by-range", "val.fields.batch-delete-routes"],
    level,
    intercept: async (request, next) => {
      const asked = requestOf(request, remove);
      if (asked === undefined) return next(request);
      const done = asked.routes.map((value) => ({ outcome: { $case: "route", value } as const }));
      return okReply(remove.responseType.encode(remove.responseType.fromPartial({ results: done })).finish());
    },
  },
  {
    name: "route-all",
    fault: "every cluster is shown all routes",
    fails: ["route.conflict", "route.delete.foreign", "route.managed-only"],
    level,
    intercept: async (request, next) => {
      const asked = requestOf(request, list);
      const { context } = asked ?? {};
      if (asked === undefined || context?.cluster === undefined) return next(request);
      const cluster = { ...context.cluster, id: context.cluster.id.replace("-other", "") };
      const altered = { ...asked, context: { ...context, cluster } };
      return next({ ...request, body: frame(list.requestType.encode(altered).finish()) });
    },
  },
];

let turn = 0;

const concurrency: readonly Mutant[] = [
  {
    name: "refuses-when-busy",
    fault: "calls beyond a dozen are refused, whatever they are",
    fails: ["conc.handshake", "conc.limit", "proc.streams.parallel"],
    intercept: async (request, next) => (request.open > 12 ? bareError(8, "busy") : next(request)),
  },
  {
    name: "one-ensure-crashes",
    fault: "Ensures of one Service side by side end in errors",
    fails: ["conc.ensure.same"],
    level,
    // Most checks see it, and which of them fail depends on what ran before.
    only: ["conc.ensure.same"],
    intercept: async (request, next) =>
      isCall(request, "EnsureLoadBalancer") && turn++ % 2 === 1 ? bareError(13, "conflict") : next(request),
  },
  {
    name: "delete-forgets",
    fault: "a deletion is done and nothing is gone",
    fails: ["conc.ensure-delete"],
    level,
    only: ["conc.ensure-delete"],
    intercept: async (request, next) => {
      const { name, responseType } = methods.deleteLoadBalancer;
      const done = responseType.encode(responseType.fromPartial({ done: true })).finish();
      return isCall(request, name) ? okReply(done) : next(request);
    },
  },
];

/** Faults of routes that are made and removed, and of many calls at once. */
export const changeMutants: readonly Mutant[] = [...routes, ...concurrency];
