import type { Route, RouteRecord, RouteSpec } from "../../api/routes.ts";
import { parseNetwork } from "../addresses.ts";
import { CloudError } from "../errors.ts";
import { newId } from "../store/meta.ts";
import type { Versioned } from "../store/resource-store.ts";
import { getInstance } from "./instances.ts";
import { instanceKind, routeKind } from "./kinds.ts";
import { checkQuota } from "./quota.ts";
import { timestamp, type World } from "./world.ts";

export const createRoute = (world: World, account: string, spec: RouteSpec): Route =>
  world.database.transaction(() => {
    const destination = parseNetwork(spec.destination);
    if (!destination) {
      throw new CloudError(
        "InvalidRequest",
        `destination ${JSON.stringify(spec.destination)} is not a network in CIDR notation`,
      );
    }
    // The destination is the record's name to the store, so that the name index keeps it unique.
    const [existing] = world.store.list(routeKind, account, { names: [destination.text] });
    if (existing) {
      throw new CloudError(
        "RouteExists",
        `route ${existing.id} leads ${destination.text} to ${existing.instanceId} already`,
      );
    }
    checkQuota(world, account, "routes", 1);
    const instance = getInstance(world, account, spec.instanceId);
    if (instance.state === "terminated") {
      throw new CloudError("InstanceNotFound", `instance ${spec.instanceId} is terminated`);
    }
    const now = timestamp(world.clock.now());
    const record: RouteRecord = {
      id: newId(world.database, "rt"),
      name: destination.text,
      label: spec.label ?? "",
      tags: spec.tags ?? {},
      createdAt: now,
      updatedAt: now,
      destination: destination.text,
      instanceId: spec.instanceId,
      instanceZone: instance.zone,
    };
    return withState(world, account, world.store.put(routeKind, account, record));
  });

export const routeQuota = (world: World, account: string): { readonly limit: number; readonly used: number } => ({
  limit: world.settings().quotas.routes,
  used: world.store.count("route", account),
});

export const deleteRoute = (world: World, account: string, id: string): Route => {
  const route = world.store.get(routeKind, account, id);
  if (!route) throw new CloudError("RouteNotFound", `no route ${id} in account ${account}`);
  const last = withState(world, account, route);
  world.store.delete(routeKind, account, route);
  return last;
};

/** A route to a deleted instance is a black hole. This is computed on read, not stored. */
export const withState = (world: World, account: string, route: Versioned<RouteRecord>, snapshot?: number): Route => {
  const instance = world.store.get(instanceKind, account, route.instanceId, snapshot);
  const alive = instance !== undefined && instance.state !== "terminated";
  return { ...route, state: alive ? "active" : "blackhole" };
};
