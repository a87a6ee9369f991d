import {
  ProviderError,
  type Route as ProviderRoute,
  type RouteBatchResult,
  type RouteChangeContext,
  type RouteDeleteResult,
  type RouteHandlers,
  type RouteListContext,
  type DesiredRoute,
} from "@cloudwire/provider-sdk";
import type { Route, RouteSpec } from "../api/routes.ts";
import { CloudCallError } from "../client/http.ts";
import type { CloudAccess } from "./cloud-access.ts";
import { toProviderError } from "./errors.ts";
import { clusterFilter, clusterTags, nodeNameTag, problemOfTags } from "./ownership.ts";
import { collect, readAll } from "./pages.ts";
import { formatId, type InstancePlace, parseId } from "./instances/provider-id.ts";

/** Destinations travel in the query: 200 of them stay below the limits of a URL. */
const maxBatchSize = 200;

export function routeHandlers(cloud: CloudAccess): RouteHandlers {
  return {
    features: { maxBatchSize, maxPageSize: 1000, blackhole: true, validateOnly: true, ipFamilies: ["IPv4", "IPv6"] },
    list: (context) => listRoutes(cloud, context),
    ensureMany: async (routes, context) => ensureRoutes(cloud, routes, context),
    deleteMany: async (routes, context) => deleteRoutes(cloud, routes, context),
  };
}

async function* listRoutes(cloud: CloudAccess, context: RouteListContext): AsyncGenerator<ProviderRoute> {
  const tag = [clusterFilter(context.cluster)];
  const pages = readAll(cloud, context, async (client, pageToken, signal) =>
    client.listRoutes({ tag, pageSize: 1000, pageToken, consistent: true }, signal),
  );
  for await (const page of pages) {
    context.reportQuota(page.quota);
    for (const route of page.items) yield toRoute(route);
  }
}

type Step =
  | { readonly kind: "done"; readonly answer: RouteBatchResult }
  /** `replaces`: the cluster's own route to another machine, which has to go first. */
  | { readonly kind: "create"; readonly spec: RouteSpec; readonly replaces: Route | undefined };

/** At most three calls a batch: list, delete, create. One if all routes are up to date. */
async function ensureRoutes(
  cloud: CloudAccess,
  routes: readonly DesiredRoute[],
  context: RouteChangeContext,
): Promise<readonly RouteBatchResult[]> {
  const existing = await readDestinations(cloud, routes, context);
  const steps = routes.map((wanted) => planEnsure(wanted, existing.get(wanted.destinationCidr), context));
  const creates = steps.filter((step) => step.kind === "create");
  if (context.validateOnly) return planRoutes(cloud, routes, steps, context);
  const replaced = creates.flatMap(({ replaces }) => (replaces ? [replaces.id] : []));
  if (replaced.length > 0) await cloud.ask(context, async (client, signal) => client.deleteRoutes(replaced, signal));
  const created = await createAll(
    cloud,
    creates.map(({ spec }) => spec),
    context,
  );
  let next = 0;
  return steps.map((step) => {
    if (step.kind === "done") return step.answer;
    next += 1;
    return created[next - 1] ?? notAnswered(step.spec.destination);
  });
}

/** What would be made. The cloud refuses routes to machines that are gone only when they are made, so these are looked up. */
async function planRoutes(
  cloud: CloudAccess,
  routes: readonly DesiredRoute[],
  steps: readonly Step[],
  context: RouteChangeContext,
): Promise<readonly RouteBatchResult[]> {
  const there = await readMachines(
    cloud,
    steps.flatMap((step) => (step.kind === "create" ? [step.spec.instanceId] : [])),
    context,
  );
  return steps.map((step, index) => {
    if (step.kind === "done") return step.answer;
    const { spec, replaces } = step;
    if (!there.has(spec.instanceId)) {
      const message = `route to ${spec.destination}: there is no instance ${spec.instanceId}`;
      return new ProviderError("ROUTE_TARGET_NOT_FOUND", message);
    }
    const action = replaces ? "replace" : "create";
    context.addPlannedChange({ action, resourceType: "route", resourceId: replaces?.id, summary: describe(spec) });
    return asWanted(routes[index], replaces);
  });
}

/** Ids of those machines that are there and not terminated. */
async function readMachines(
  cloud: CloudAccess,
  ids: readonly string[],
  context: RouteChangeContext,
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const options = { ids: [...new Set(ids)], names: [], consistent: true };
  const { items } = await cloud.ask(context, async (client, signal) => client.lookupInstances(options, signal));
  return new Set(items.filter(({ state }) => state !== "terminated").map(({ id }) => id));
}

/** One call a batch finds what is there, a second one removes it. */
async function deleteRoutes(
  cloud: CloudAccess,
  routes: readonly DesiredRoute[],
  context: RouteChangeContext,
): Promise<readonly RouteDeleteResult[]> {
  const existing = await readDestinations(cloud, routes, context);
  const found = routes.map((wanted) => {
    const route = existing.get(wanted.destinationCidr);
    // Another route has replaced the listed one, which therefore no longer exists.
    return route && wanted.id !== undefined && wanted.id !== route.id ? undefined : route;
  });
  const problems = found.map((route) => route && foreignProblem(route, context));
  const ids = found.flatMap((route, index) => (route && !problems[index] ? [route.id] : []));
  if (context.validateOnly) {
    for (const id of ids) context.addPlannedChange({ action: "delete", resourceType: "route", resourceId: id });
    return problems;
  }
  const unique = [...new Set(ids)];
  if (unique.length === 0) return problems;
  const { results, quota } = await cloud.ask(context, async (client, signal) => client.deleteRoutes(unique, signal));
  context.reportQuota(quota);
  const failures = new Map(unique.map((id, index) => [id, deleteProblem(results[index]?.error)]));
  return found.map((route, index) => problems[index] ?? (route && failures.get(route.id)));
}

/** A route without ownership tags belongs to a user. */
function foreignProblem(route: Route, { cluster }: RouteChangeContext): ProviderError | undefined {
  const problem = problemOfTags("route", route, cluster);
  if (problem?.reason !== "NAME_TAKEN") return problem;
  const message = `route ${route.id} to ${route.destination} was not created by this cluster`;
  return new ProviderError("OWNED_BY_ANOTHER_CLUSTER", message, { metadata: { id: route.id } });
}

type ItemRefusal = { readonly code: string; readonly message: string; readonly requestId: string } | undefined;

function deleteProblem(refusal: ItemRefusal): ProviderError | undefined {
  return refusal === undefined || refusal.code === "RouteNotFound" ? undefined : fromItem(refusal);
}

/** The routes to these destinations, of any owner. */
async function readDestinations(
  cloud: CloudAccess,
  routes: readonly DesiredRoute[],
  context: RouteChangeContext,
): Promise<ReadonlyMap<string, Route>> {
  const destination = [...new Set(routes.map(({ destinationCidr }) => destinationCidr))];
  const found = await collect(cloud, context, async (client, pageToken, signal) => {
    const page = await client.listRoutes({ destination, pageSize: 1000, pageToken, consistent: true }, signal);
    context.reportQuota(page.quota);
    if (page.consistency === "strong") return page;
    throw new ProviderError("INCOMPLETE_ANSWER", "the response came from a replica that may lag");
  });
  return new Map(found.map((route) => [route.destination, route]));
}

function planEnsure(wanted: DesiredRoute, existing: Route | undefined, { cluster }: RouteChangeContext): Step {
  const place = wanted.targetId === undefined ? undefined : parseId(wanted.targetId);
  if (place === undefined || place instanceof Error) {
    const message = `route to ${wanted.destinationCidr}: ${wanted.targetProviderId} is not an instance of this cloud`;
    return { kind: "done", answer: new ProviderError("ROUTE_TARGET_NOT_FOUND", message) };
  }
  if (existing && problemOfTags("route", existing, cluster)) {
    const message = `route ${existing.id} to ${existing.destination} was not created by this cluster`;
    const metadata = { cidr: existing.destination };
    return { kind: "done", answer: new ProviderError("CIDR_CONFLICT", message, { metadata }) };
  }
  if (existing?.instanceId === place.instanceId && existing.state === "active") {
    return { kind: "done", answer: toRoute(existing) };
  }
  return { kind: "create", spec: toSpec(wanted, place, cluster), replaces: existing };
}

function toSpec(wanted: DesiredRoute, place: InstancePlace, cluster: RouteChangeContext["cluster"]): RouteSpec {
  const nodeName = wanted.targetNodeName;
  return {
    destination: wanted.destinationCidr,
    instanceId: place.instanceId,
    ...(wanted.nameHint === undefined ? {} : { label: wanted.nameHint }),
    tags: { ...clusterTags(cluster), ...(nodeName === undefined ? {} : { [nodeNameTag]: nodeName }) },
  };
}

async function createAll(
  cloud: CloudAccess,
  items: readonly RouteSpec[],
  context: RouteChangeContext,
): Promise<readonly RouteBatchResult[]> {
  if (items.length === 0) return [];
  const { results, quota } = await cloud.ask(context, async (client, signal) => client.createRoutes(items, signal));
  context.reportQuota(quota);
  return items.map(({ destination }, index) => {
    const { route, error } = results[index] ?? {};
    if (route) return toRoute(route);
    return error ? fromItem(error) : notAnswered(destination);
  });
}

/** An item's refusal means what the same refusal of a whole call means. */
function fromItem({ code, message, requestId }: NonNullable<ItemRefusal>): ProviderError {
  const failure = { kind: "refused", status: 400, code, retryAfterMs: undefined } as const;
  const error = toProviderError(new CloudCallError(`${code}: ${message}`, failure, requestId));
  return error instanceof ProviderError ? error : new ProviderError("INVARIANT_BROKEN", message);
}

function notAnswered(destination: string): ProviderError {
  return new ProviderError("INCOMPLETE_ANSWER", `the cloud returned no result for the route to ${destination}`);
}

function asWanted(wanted: DesiredRoute | undefined, existing: Route | undefined): RouteBatchResult {
  if (existing) return toRoute(existing);
  const destination = wanted?.destinationCidr ?? "";
  return { id: destination, destinationCidr: destination, ...(wanted?.targetId ? { targetId: wanted.targetId } : {}) };
}

function describe({ destination, instanceId }: RouteSpec): string {
  return `${destination} to ${instanceId}`;
}

function toRoute(route: Route): ProviderRoute {
  const nodeName = route.tags[nodeNameTag];
  return {
    id: route.id,
    ...(route.label === "" ? {} : { nameHint: route.label }),
    targetId: formatId({ zone: route.instanceZone, instanceId: route.instanceId }),
    ...(nodeName === undefined ? {} : { targetNodeName: nodeName }),
    destinationCidr: route.destination,
    blackhole: route.state === "blackhole",
  };
}
