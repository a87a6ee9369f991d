import type { CallOptions, ChangeOptions, ProviderClient } from "../model/client.ts";
import { routeBytes, routeChangesFromProto, routeFromProto, routeToProto } from "../convert/route.ts";
import { asProviderError, contractError } from "../model/errors.ts";
import { RPCS, brokenItem } from "../convert/methods.ts";
import { walkPages } from "./pages.ts";
import type { Route, RouteChanges, RouteList, RouteOutcome, RouteQuota } from "../model/route.ts";
import type { Answered, Session } from "./session.ts";
import { splitBatches } from "./batches.ts";

export function routeCalls(session: Session): Pick<ProviderClient, "listRoutes" | "ensureRoutes" | "deleteRoutes"> {
  return {
    listRoutes: (options) => listRoutes(session, options),
    ensureRoutes: (routes, options) => ensureRoutes(session, routes, options),
    deleteRoutes: (routes, options) => deleteRoutes(session, routes, options),
  };
}

/** ListRoutes, all pages. */
async function listRoutes(session: Session, options: CallOptions): Promise<RouteList> {
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
function ensureRoutes(session: Session, routes: readonly Route[], options: ChangeOptions): Promise<RouteChanges> {
  return changeRoutes(session, routes, options, (batch, one) =>
    session.change(RPCS.batchEnsureRoutes, (context, change) => ({ context, change, routes: batch }), one),
  );
}

/** BatchDeleteRoutes, likewise. */
function deleteRoutes(session: Session, routes: readonly Route[], options: ChangeOptions): Promise<RouteChanges> {
  return changeRoutes(session, routes, options, (batch, one) =>
    session.change(RPCS.batchDeleteRoutes, (context, change) => ({ context, change, routes: batch }), one),
  );
}

type WireRoute = ReturnType<typeof routeToProto>;
type BatchResponse = Parameters<typeof routeChangesFromProto>[1];

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
  const batches = splitBatches(sendable, maxBatchSize, ({ wire }) => routeBytes(wire));
  const plannedChanges: RouteChanges["plannedChanges"][number][] = [];
  let quota: RouteQuota | undefined;
  for (const batch of batches) {
    const wire = batch.map((item) => item.wire);
    const answered = await send(wire, optionsOfEach(batches.length, options)).catch(asProviderError);
    if (answered instanceof Error) {
      for (const { index } of batch) outcomes.set(index, { kind: "failed", error: answered });
      continue;
    }
    const { provider } = session;
    const changes = routeChangesFromProto(wire, answered.response, { provider, requestId: answered.requestId });
    for (const [position, outcome] of changes.outcomes.entries()) {
      const item = batch[position];
      if (outcome.kind === "failed") session.judged(outcome.error);
      if (item !== undefined) outcomes.set(item.index, outcome);
    }
    plannedChanges.push(...changes.plannedChanges);
    quota = changes.quota ?? quota;
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
