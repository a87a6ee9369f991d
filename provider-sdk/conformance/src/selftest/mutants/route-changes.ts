import type { RouteResult } from "@cloudwire/proto/cloudprovider/v1/route";
import { methods } from "../../contract/methods.ts";
import { frame } from "../../endpoint/frames.ts";
import { alterAnswer, bareError, isCall, type Mutant, okReply, requestOf } from "../mutant.ts";
import type { Intercept } from "../mutant-proxy.ts";

const ensure = methods.batchEnsureRoutes;
const remove = methods.batchDeleteRoutes;
const list = methods.listRoutes;
const level = "M";

const results = (alter: (results: RouteResult[]) => RouteResult[]): Intercept =>
  alterAnswer(ensure, (answer) => ({ ...answer, results: alter(answer.results) }));

/** A range and a cluster that were ensured already. */
const ensured = new Set<string>();

const routes: readonly Mutant[] = [
  {
    name: "route-no-id",
    fault: "routes are listed without id",
    fails: ["route.create"],
    level,
    intercept: alterAnswer(list, (answer) => ({
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
    // What stays is in the way of other checks: of which depends on their order.
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
