import type { CallOptions, ChangeOptions, ProviderClient } from "../model/client.ts";
import { routeBytes, routeChangesFromProto, routeFromProto, routeToProto } from "../convert/route.ts";
import { asProviderError, contractError } from "../model/errors.ts";
import { type CallContext, type ChangeContext, type Rpc, RPCS, brokenItem } from "../convert/methods.ts";
import { walkPages } from "./pages.ts";
import type { Route, RouteChanges, RouteList, RouteOutcome, RouteQuota } from "../model/route.ts";
import type { Session } from "./session.ts";
import { splitBatches } from "./batches.ts";

export function routeCalls(session: Session): Pick<ProviderClient, "listRoutes" | "ensureRoutes" | "deleteRoutes"> {
  return {
    listRoutes: (options) => listRoutes(session, options),
    ensureRoutes: (routes, options) => changeRoutes(session, routes, options, RPCS.batchEnsureRoutes),
    deleteRoutes: (routes, options) => changeRoutes(session, routes, options, RPCS.batchDeleteRoutes),
  };
}

async function listRoutes(session: Session, options: CallOptions): Promise<RouteList> {
  const { maxPageSize } = await session.capability("routes", options.signal);
  let quota: RouteQuota | undefined;
  const walk = await walkPages(session.brokenList("ListRoutes"), async (pageToken) => {
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
      received: answered.received,
      problem: session.scopeProblem(answered, response.scopeId),
    };
  });
  return { routes: walk.items, complete: walk.complete, quota };
}

type WireRoute = ReturnType<typeof routeToProto>;

interface BatchRequest {
  readonly context: CallContext | undefined;
  readonly change: ChangeContext | undefined;
  readonly routes: WireRoute[];
}

/** In as many calls as the limits require, one after the other: clouds change a route table one call at a time. */
async function changeRoutes(
  session: Session,
  routes: readonly Route[],
  options: ChangeOptions,
  rpc: Rpc<BatchRequest, Parameters<typeof routeChangesFromProto>[1]>,
): Promise<RouteChanges> {
  const { maxBatchSize } = await session.capability("routes", options.signal);
  const outcomes = new Map<number, RouteOutcome>();
  const sendable = routes.flatMap((route, index) => {
    const wire = routeToProto(route);
    const problem = brokenItem("cloudprovider.v1.Route", wire, `route ${route.destinationCidr} cannot be sent`);
    if (problem === undefined) return [{ index, wire }];
    outcomes.set(index, { kind: "failed", error: problem });
    return [];
  });
  const batches = splitBatches(sendable, maxBatchSize, ({ wire }) => routeBytes(wire));
  const plannedChanges: RouteChanges["plannedChanges"][number][] = [];
  let quota: RouteQuota | undefined;
  for (const batch of batches) {
    const wire = batch.map((item) => item.wire);
    const answered = await session
      .change(rpc, (context, change) => ({ context, change, routes: wire }), optionsOfEach(batches.length, options))
      .catch(asProviderError);
    if (answered instanceof Error) {
      for (const { index } of batch) outcomes.set(index, { kind: "failed", error: answered });
      continue;
    }
    const { provider } = session;
    const changes = routeChangesFromProto(wire, answered.response, { provider, requestId: answered.requestId });
    for (const [position, outcome] of changes.outcomes.entries()) {
      const item = batch[position];
      if (outcome.kind === "failed") session.checkStale(outcome.error);
      if (item !== undefined) outcomes.set(item.index, outcome);
    }
    plannedChanges.push(...changes.plannedChanges);
    quota = changes.quota ?? quota;
  }
  const error = contractError("INVARIANT_BROKEN", "the response has no result for the route");
  return {
    outcomes: routes.map((_, index) => outcomes.get(index) ?? { kind: "failed", error }),
    quota,
    plannedChanges,
  };
}

/** Several calls need a request ID each. */
function optionsOfEach(calls: number, options: ChangeOptions): ChangeOptions {
  if (calls === 1) return options;
  const { requestId: _, ...rest } = options;
  return rest;
}
