import type { PlannedChange } from "@cloudwire/proto/cloudprovider/v1/common";
import {
  Route as WireRoute,
  type RouteQuota as WireRouteQuota,
  type RouteResult,
} from "@cloudwire/proto/cloudprovider/v1/route";
import type { CallOptions, ChangeOptions } from "../model/client.ts";
import { brokenAnswer } from "../convert/instance.ts";
import { plannedChangeFromProto } from "../convert/load-balancer.ts";
import { routeFromProto, routeOutcome, routeToProto } from "../convert/route.ts";
import { asProviderError, contractError } from "../model/errors.ts";
import { brokenItem } from "../convert/field-rules.ts";
import { walkPages } from "./pages.ts";
import { RPCS } from "../convert/methods.ts";
import type { Route, RouteChanges, RouteList, RouteOutcome, RouteQuota } from "../model/route.ts";
import type { Answered, Session } from "./session.ts";
import { splitBatches } from "./batches.ts";

/** ListRoutes, all pages. */
export async function listRoutes(session: Session, options: CallOptions): Promise<RouteList> {
  const { maxPageSize } = await session.capability("routes", options.signal);
  let quota: RouteQuota | undefined;
  const walk = await walkPages("ListRoutes", async (pageToken) => {
    const request = { pageSize: maxPageSize, pageToken };
    const answered = await session.call(RPCS.listRoutes, (context) => ({ context, ...request }), options);
    const { response } = answered;
    quota = response.quota ?? quota;
    return {
      items: response.routes.map((route) => routeFromProto(route)),
      nextPageToken: response.nextPageToken,
      complete: response.complete,
      unreachable: [],
      resumeToken: "",
      problem: session.scopeProblem(answered, response.scopeId),
    };
  });
  return { routes: walk.items, complete: walk.complete, quota };
}

/** BatchEnsureRoutes, in as many calls as limits need, one after the other: route tables are changed one at a time. */
export function ensureRoutes(
  session: Session,
  routes: readonly Route[],
  options: ChangeOptions,
): Promise<RouteChanges> {
  return changeRoutes(session, routes, options, (batch, one) =>
    session.change(RPCS.batchEnsureRoutes, (context, change) => ({ context, change, routes: batch }), one),
  );
}

/** BatchDeleteRoutes, likewise. */
export function deleteRoutes(
  session: Session,
  routes: readonly Route[],
  options: ChangeOptions,
): Promise<RouteChanges> {
  return changeRoutes(session, routes, options, (batch, one) =>
    session.change(RPCS.batchDeleteRoutes, (context, change) => ({ context, change, routes: batch }), one),
  );
}

interface BatchResponse {
  readonly results: readonly RouteResult[];
  readonly quota: WireRouteQuota | undefined;
  readonly plannedChanges: readonly PlannedChange[];
}

/** A route and its place among those that were asked for. */
interface Item {
  readonly index: number;
  readonly wire: WireRoute;
}

async function changeRoutes(
  session: Session,
  routes: readonly Route[],
  options: ChangeOptions,
  send: (batch: WireRoute[], options: ChangeOptions) => Promise<Answered<BatchResponse>>,
): Promise<RouteChanges> {
  const { maxBatchSize } = await session.capability("routes", options.signal);
  const outcomes = new Map<number, RouteOutcome>();
  const sendable = routes.flatMap((route, index): readonly Item[] => {
    const wire = routeToProto(route);
    const problem = brokenItem("cloudprovider.v1.Route", wire, `route ${route.destinationCidr} cannot be sent`);
    if (problem === undefined) return [{ index, wire }];
    outcomes.set(index, { kind: "failed", error: problem });
    return [];
  });
  const batches = splitBatches(sendable, maxBatchSize, ({ wire }) => WireRoute.encode(wire).finish().length);
  const plannedChanges: RouteChanges["plannedChanges"][number][] = [];
  let quota: WireRouteQuota | undefined;
  for (const batch of batches) {
    const wire = batch.map((item) => item.wire);
    const answered = await send(wire, optionsOfEach(batches.length, options)).catch(asProviderError);
    if (answered instanceof Error) {
      for (const { index } of batch) outcomes.set(index, { kind: "failed", error: answered });
      continue;
    }
    const { response, requestId } = answered;
    for (const [position, outcome] of outcomesOf(session, wire, requestId, response.results).entries()) {
      const item = batch[position];
      if (item !== undefined) outcomes.set(item.index, outcome);
    }
    plannedChanges.push(...response.plannedChanges.map((change) => plannedChangeFromProto(change)));
    quota = response.quota ?? quota;
  }
  const unanswered: RouteOutcome = {
    kind: "failed",
    error: contractError("INVARIANT_BROKEN", "the route got no answer"),
  };
  return { outcomes: routes.map((_, index) => outcomes.get(index) ?? unanswered), quota, plannedChanges };
}

/** Each call of several is a change of its own, with an id of its own. */
function optionsOfEach(calls: number, options: ChangeOptions): ChangeOptions {
  if (calls === 1) return options;
  const { requestId: _, ...rest } = options;
  return rest;
}

/** One outcome for each route; of an answer that does not fit the question nothing is believed. */
function outcomesOf(
  session: Session,
  routes: readonly WireRoute[],
  requestId: string,
  results: readonly RouteResult[],
): readonly RouteOutcome[] {
  const error = brokenAnswer(`${results.length} results for ${routes.length} routes`, session.provider, requestId);
  return routes.map((route, index) => {
    const result = results.length === routes.length ? results[index] : undefined;
    if (result === undefined) return { kind: "failed", error };
    const outcome = routeOutcome(result, `${session.provider}: route ${route.destinationCidr}`, requestId);
    if (outcome.kind === "failed") session.judged(outcome.error);
    return outcome;
  });
}
