import type { MachineSource } from "../inventory/inventory-files.ts";
import { internalAddress, machineOf } from "../inventory/machine.ts";
import { goneFrom } from "../plan/routes.ts";
import { type RouteRecord, withoutRoutes, withRoutes } from "../state/state.ts";
import type { Store } from "../state/store.ts";
import { familyOf } from "@cloudwire/provider-sdk/addresses";
import type { KernelRoutes } from "./kernel-routes.ts";

/** Updates routes to the current addresses of their machines and completes unfinished deletions. Returns the number of changes. */
export async function repairRoutes(store: Store, routes: KernelRoutes, source: MachineSource): Promise<number> {
  const machines = await source.read();
  return routes.inTurn(async ({ sync }) => {
    await store.refresh();
    const moved = store.state().routes.flatMap((route): readonly RouteRecord[] => {
      if (route.isDeleting) return [];
      const addresses = machineOf(machines, route.targetId)?.addresses ?? [];
      const gateway = internalAddress(addresses, familyOf(route.gateway) ?? 4);
      return gateway === undefined || gateway === route.gateway ? [] : [{ ...route, gateway }];
    });
    if (moved.length > 0) await store.update((state) => withRoutes(state, moved));
    const [unwanted = [], wanted = []] = [true, false].map((isDeleting) =>
      store.state().routes.filter((route) => route.isDeleting === isDeleting),
    );
    const { table, changes } = await sync({ wanted, unwanted });
    const gone = goneFrom(routes.table, table, unwanted);
    if (gone.size > 0) await store.update((state) => withoutRoutes(state, gone));
    return changes;
  });
}
