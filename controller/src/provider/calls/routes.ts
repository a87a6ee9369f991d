import {
  Route as WireRoute,
  type RouteQuota as WireRouteQuota,
  type RouteResult,
} from "@cloudwire/proto/cloudprovider/v1/route";
import type { CallOptions, ChangeOptions } from "../client.ts";
import { brokenAnswer } from "../convert/instance.ts";
import { plannedChangeFromProto } from "../convert/load-balancer.ts";
import { routeFromProto, routeOutcome, routeToProto } from "../convert/route.ts";
import { asProviderError } from "../errors.ts";
import { walkPages } from "../page-walk.ts";
import { RPCS } from "../rpcs.ts";
import type { EnsuredRoutes, Route, RouteList, RouteOutcome, RouteQuota } from "../route.ts";
import type { Answered, Session } from "../session.ts";
import { splitBatches } from "../split-batches.ts";

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
export async function ensureRoutes(
  session: Session,
  routes: readonly Route[],
  options: ChangeOptions,
): Promise<EnsuredRoutes> {
  const batches = await batchesOf(session, routes, options);
  const outcomes: RouteOutcome[] = [];
  const plannedChanges: EnsuredRoutes["plannedChanges"][number][] = [];
  let quota: WireRouteQuota | undefined;
  for (const batch of batches) {
    const wire = batch.map((route) => routeToProto(route));
    const sent = session.change(
      RPCS.batchEnsureRoutes,
      (context, change) => ({ context, change, routes: wire }),
      optionsOfEach(batches.length, options),
    );
    const answered = await sent.catch(asProviderError);
    if (answered instanceof Error) outcomes.push(...batch.map(() => ({ kind: "failed" as const, error: answered })));
    else {
      outcomes.push(...outcomesOf(session, batch, answered, answered.response.results));
      plannedChanges.push(...answered.response.plannedChanges.map((change) => plannedChangeFromProto(change)));
      quota = answered.response.quota ?? quota;
    }
  }
  return { outcomes, quota, plannedChanges };
}

/** BatchDeleteRoutes, likewise. */
export async function deleteRoutes(
  session: Session,
  routes: readonly Route[],
  options: ChangeOptions,
): Promise<readonly RouteOutcome[]> {
  const batches = await batchesOf(session, routes, options);
  const outcomes: RouteOutcome[] = [];
  for (const batch of batches) {
    const wire = batch.map((route) => routeToProto(route));
    const sent = session.change(
      RPCS.batchDeleteRoutes,
      (context, change) => ({ context, change, routes: wire }),
      optionsOfEach(batches.length, options),
    );
    const answered = await sent.catch(asProviderError);
    if (answered instanceof Error) outcomes.push(...batch.map(() => ({ kind: "failed" as const, error: answered })));
    else outcomes.push(...outcomesOf(session, batch, answered, answered.response.results));
  }
  return outcomes;
}

/** Each call of several is a change of its own, with an id of its own. */
function optionsOfEach(calls: number, options: ChangeOptions): ChangeOptions {
  if (calls === 1) return options;
  const { requestId: _, ...rest } = options;
  return rest;
}

async function batchesOf(
  session: Session,
  routes: readonly Route[],
  { signal }: CallOptions,
): Promise<readonly (readonly Route[])[]> {
  const { maxBatchSize } = await session.capability("routes", signal);
  return splitBatches(routes, maxBatchSize, (route) => WireRoute.encode(routeToProto(route)).finish().length);
}

/** One outcome for each route; of an answer that does not fit the question nothing is believed. */
function outcomesOf(
  session: Session,
  routes: readonly Route[],
  { requestId }: Answered<unknown>,
  results: readonly RouteResult[],
): readonly RouteOutcome[] {
  const error = brokenAnswer(`${results.length} results for ${routes.length} routes`, session.provider, requestId);
  return routes.map((route, index) => {
    const result = results.length === routes.length ? results[index] : undefined;
    if (result === undefined) return { kind: "failed", error };
    return routeOutcome(result, `${session.provider}: route ${route.destinationCidr}`, requestId);
  });
}
