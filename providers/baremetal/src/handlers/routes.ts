import {
  ProviderError,
  type Route,
  type RouteBatchResult,
  type RouteChangeContext,
  type RouteDeleteResult,
  type RouteHandlers,
  type RouteListContext,
  type DesiredRoute,
} from "@cloudwire/provider-sdk";
import type { KernelRoutes, RouteAccess } from "../forwarding/kernel-routes.ts";
import type { MachineSource } from "../inventory/inventory-files.ts";
import { internalAddress, machineOf, type Machines } from "../inventory/machine.ts";
import { goneFrom, isInTable } from "../plan/routes.ts";
import { type RouteRecord, withoutRoutes, withRoutes } from "../state/state.ts";
import type { Store } from "../state/store.ts";
import { parseCidr } from "@cloudwire/provider-sdk/addresses";
import { unusable } from "./instances.ts";

export interface RouteDeps {
  readonly store: Store;
  readonly source: MachineSource;
  readonly kernel: KernelRoutes;
}

export function routeHandlers(deps: RouteDeps): RouteHandlers {
  return {
    features: {
      maxBatchSize: 200,
      maxPageSize: 1000,
      blackhole: true,
      validateOnly: true,
      ipFamilies: ["IPv4", "IPv6"],
    },
    list: (context) => list(deps, context),
    ensureMany: async (routes, context) => ensureMany(deps, routes, context),
    deleteMany: async (routes, context) => deleteMany(deps, routes, context),
  };
}

/** Routes of the cluster that the kernel has; a lost one is not returned, so that the controller creates it again. */
async function* list({ store, source, kernel }: RouteDeps, { cluster }: RouteListContext): AsyncGenerator<Route> {
  const machines = await source.read();
  const records = await kernel.inTurn(async ({ read }) => {
    const [table] = await Promise.all([read(), store.refresh()]);
    return store.state().routes.filter((record) => isInTable(kernel.table, table, record));
  });
  for (const record of records) {
    if (!record.isDeleting && record.cluster.id === cluster.id) yield toRoute(record, machines);
  }
}

function toRoute(record: RouteRecord, machines: Machines): Route {
  const { destination, targetId, targetNodeName } = record;
  const isGone = machines.problems.length === 0 && machineOf(machines, targetId) === undefined;
  return {
    id: idOf(record),
    destinationCidr: destination,
    targetId,
    ...(targetNodeName === undefined ? {} : { targetNodeName }),
    blackhole: isGone,
  };
}

/** Another target is another route. */
function idOf({ destination, targetId }: RouteRecord): string {
  return `${destination}@${targetId}`;
}

async function ensureMany(
  { store, source, kernel }: RouteDeps,
  routes: readonly DesiredRoute[],
  context: RouteChangeContext,
): Promise<readonly RouteBatchResult[]> {
  const machines = await source.read();
  return kernel.inTurn((access) => ensureInTurn({ store, kernel, ...access }, machines, routes, context));
}

async function ensureInTurn(
  { store, kernel, read, sync }: Pick<RouteDeps, "store" | "kernel"> & RouteAccess,
  machines: Machines,
  routes: readonly DesiredRoute[],
  context: RouteChangeContext,
): Promise<readonly RouteBatchResult[]> {
  const [table] = await Promise.all([read(), store.refresh()]);
  const plans = routes.map((route) => {
    const record = toRecord(route, machines, store.state().routes, context);
    if (record instanceof ProviderError) return record;
    const foreign = table.some(
      (one) => one.destination === record.destination && one.protocol !== kernel.table.protocol,
    );
    return foreign ? conflict(record.destination, "the kernel has a route of another owner") : record;
  });
  const records = plans.flatMap((plan) => (plan instanceof ProviderError ? [] : plan));
  if (context.validateOnly) {
    for (const record of records) {
      if (isInTable(kernel.table, table, record)) continue;
      context.addPlannedChange({
        action: "create",
        resourceType: "route",
        resourceId: idOf(record),
        summary: `via ${record.gateway}`,
      });
    }
    return plans.map((plan) => (plan instanceof ProviderError ? plan : toRoute(plan, machines)));
  }
  if (records.length > 0) await store.update((state) => withRoutes(state, records));
  context.recordCloudCall({ mutation: true });
  const outcome = await sync({ wanted: records });
  return plans.map((plan) => {
    if (plan instanceof ProviderError) return plan;
    if (isInTable(kernel.table, outcome.table, plan)) return toRoute(plan, machines);
    const message = `route to ${plan.destination} via ${plan.gateway} was rejected by the kernel: ${outcome.message || "it is not in the table"}`;
    return new ProviderError("NOT_READY", message);
  });
}

function toRecord(
  wanted: DesiredRoute,
  machines: Machines,
  existing: readonly RouteRecord[],
  { cluster }: RouteChangeContext,
): RouteRecord | ProviderError {
  const range = parseCidr(wanted.destinationCidr);
  const { targetId } = wanted;
  if (range === undefined) {
    return new ProviderError("FIELD_INVALID", `${wanted.destinationCidr} is not a network`, {
      field: "routes.destination_cidr",
    });
  }
  const machine = targetId === undefined ? undefined : machineOf(machines, targetId);
  if (targetId === undefined || machine === undefined) {
    if (targetId !== undefined && machines.problems.length > 0) {
      return unusable(machines);
    }
    const message = `route to ${range.text}: ${wanted.targetProviderId} is not a machine of the inventory`;
    return new ProviderError("ROUTE_TARGET_NOT_FOUND", message);
  }
  const present = existing.find(({ destination }) => destination === range.text);
  if (present !== undefined && present.cluster.id !== cluster.id) {
    return conflict(range.text, "another cluster has a route to it");
  }
  const gateway = internalAddress(machine.addresses, range.family);
  if (gateway === undefined) {
    const message = `route to ${range.text}: machine ${targetId} has no internal IPv${range.family} address in the inventory: add one`;
    return new ProviderError("CLOUD_SETUP_INVALID", message);
  }
  const { targetNodeName } = wanted;
  return {
    cluster: { id: cluster.id, ...(cluster.name === undefined ? {} : { name: cluster.name }) },
    destination: range.text,
    targetId: machine.id,
    ...(targetNodeName === undefined ? {} : { targetNodeName }),
    gateway,
    isDeleting: false,
  };
}

function conflict(cidr: string, why: string): ProviderError {
  return new ProviderError("CIDR_CONFLICT", `route to ${cidr}: ${why}`, { metadata: { cidr } });
}

async function deleteMany(
  { store, kernel }: RouteDeps,
  routes: readonly DesiredRoute[],
  context: RouteChangeContext,
): Promise<readonly RouteDeleteResult[]> {
  return kernel.inTurn(async ({ sync }) => {
    await store.refresh();
    const found = routes.map((route) => recordOf(route, store.state().routes));
    const own = found.flatMap((record) => (record?.cluster.id === context.cluster.id ? record : []));
    if (context.validateOnly || own.length === 0) {
      for (const record of own)
        context.addPlannedChange({ action: "delete", resourceType: "route", resourceId: idOf(record) });
      return found.map((record) => deleteAnswer(record, context, new Set()));
    }
    // Forgotten last: until then the route is known to be ours.
    const unwanted = own.map((record) => ({ ...record, isDeleting: true }));
    await store.update((state) => withRoutes(state, unwanted));
    context.recordCloudCall({ mutation: true });
    const { table } = await sync({ unwanted });
    const gone = goneFrom(kernel.table, table, unwanted);
    if (gone.size > 0) await store.update((state) => withoutRoutes(state, gone));
    const left = new Set(own.flatMap(({ destination }) => (gone.has(destination) ? [] : destination)));
    return found.map((record) => deleteAnswer(record, context, left));
  });
}

/** Undefined: there is none, or another route has replaced the listed one. */
function recordOf({ destinationCidr, id }: DesiredRoute, records: readonly RouteRecord[]): RouteRecord | undefined {
  const destination = parseCidr(destinationCidr)?.text;
  const record = records.find((route) => route.destination === destination);
  return record === undefined || (id !== undefined && id !== idOf(record)) ? undefined : record;
}

function deleteAnswer(
  record: RouteRecord | undefined,
  { cluster }: RouteChangeContext,
  left: ReadonlySet<string>,
): RouteDeleteResult {
  if (record === undefined) return undefined;
  const { destination } = record;
  if (record.cluster.id !== cluster.id) {
    const metadata = { owner_cluster_id: record.cluster.id, id: idOf(record) };
    const message = `route to ${destination} belongs to another cluster`;
    return new ProviderError("OWNED_BY_ANOTHER_CLUSTER", message, { metadata });
  }
  return left.has(destination)
    ? new ProviderError("NOT_READY", `the kernel did not delete the route to ${destination}`)
    : undefined;
}
