import type { Logger, ProviderDefinition } from "@cloudwire/provider-sdk";
import type { Config } from "./config/config.ts";
import { askSocket } from "./edge/ask-socket.ts";
import { output, runProgram } from "./edge/run-program.ts";
import { bird } from "./forwarding/bird.ts";
import { type DataPlane, dataPlane, type DataPlaneParts } from "./forwarding/data-plane.ts";
import { flowTable } from "./forwarding/flow-table.ts";
import { haproxy } from "./forwarding/haproxy.ts";
import { type HealthMonitor, healthMonitor, probe } from "./forwarding/health.ts";
import { kernelAddresses } from "./forwarding/kernel-addresses.ts";
import { kernelRoutes } from "./forwarding/kernel-routes.ts";
import { nftables } from "./forwarding/nftables.ts";
import { annotationSchemas, domain } from "./handlers/annotations.ts";
import { instanceHandlers, unusable } from "./handlers/instances.ts";
import { loadBalancerHandlers } from "./handlers/load-balancers.ts";
import { routeHandlers } from "./handlers/routes.ts";
import { inventoryFiles, type MachineSource } from "./inventory/inventory-files.ts";
import { libvirtHosts } from "./inventory/libvirt-hosts.ts";
import { wildcardPorts } from "./plan/listening.ts";
import { type Reconciler, startReconciler } from "./reconcile.ts";
import { openStore, StateError, type Store } from "./state/store.ts";

export interface BareMetalProvider {
  readonly definition: ProviderDefinition;
  /** Starts to reconcile, after any previous instance of the provider has stopped. */
  readonly start: () => void;
  /** Stops background work; forwarding continues. */
  readonly stop: () => void;
}

/** The provider for this machine and its neighbors. Rejects with {@link StateError} where its memory cannot be relied on. */
export async function createBareMetalProvider(config: Config, log: Logger): Promise<BareMetalProvider> {
  const { store, isNew } = await openStore(config.stateDir);
  const nft = nftables(runProgram, config.nftables.program, config.nftables.table);
  await refuseLostState(config, isNew, nft.revision);
  const source = machineSource(config, log);
  const addresses = kernelAddresses(runProgram, log);
  const routes = config.routes && kernelRoutes(runProgram, config.routes);
  const { plane, health } = makeDataPlane(config, store, { addresses, nftables: nft }, log);
  const takenPorts = async () => wildcardPorts(await output(runProgram, "ss", ["-H", "-l", "-t", "-n"]));
  let reconciler: Reconciler | undefined;
  const definition: ProviderDefinition = {
    name: domain,
    version: "0.1.0",
    idPrefix: "baremetal://",
    scope: `baremetal/${config.site}`,
    check: async () => {
      const machines = await source.read();
      if (machines.problems.length > 0) throw unusable(machines);
      return { conditions: reconciler?.conditions() ?? [] };
    },
    instances: instanceHandlers(source),
    ...(config.pools.length === 0
      ? {}
      : {
          loadBalancers: loadBalancerHandlers({ config, store, dataPlane: plane, source, addresses, takenPorts }),
        }),
    ...(routes === undefined ? {} : { routes: routeHandlers({ store, source, kernel: routes }) }),
    annotations: annotationSchemas,
  };
  return {
    definition,
    start: () => {
      const intervalMs = config.reconcileIntervalMs;
      reconciler = startReconciler({ store, dataPlane: plane, routes, source, intervalMs, log });
    },
    stop: () => {
      reconciler?.stop();
      health.stop();
    },
  };
}

function machineSource({ machines }: Config, log: Logger): MachineSource {
  const now = () => new Date();
  return machines.kind === "inventory"
    ? inventoryFiles(machines.path, log, now)
    : libvirtHosts(machines, runProgram, log, now);
}

function makeDataPlane(
  config: Config,
  store: Store,
  parts: Pick<DataPlaneParts, "addresses" | "nftables">,
  log: Logger,
): { readonly plane: DataPlane; readonly health: HealthMonitor } {
  let plane: DataPlane | undefined;
  const health = healthMonitor({
    probe,
    intervalMs: config.nftables.checkIntervalMs,
    onChange: () => void plane?.converge(),
  });
  const more = {
    haproxy: haproxy(config.haproxy, { run: runProgram, ask: askSocket }),
    flows: flowTable(runProgram, log),
    bird: config.bird && bird(runProgram, config.bird),
    health,
  };
  plane = dataPlane(config, store, { ...parts, ...more }, log);
  return { plane, health };
}

/** Without its memory the provider would take down what forwards, and give everybody another address. */
async function refuseLostState(
  { stateDir, nftables: { table, program } }: Config,
  isNew: boolean,
  revision: () => Promise<string | undefined>,
): Promise<void> {
  if (!isNew) return;
  const inForce = await revision().catch(() => undefined);
  if (inForce === undefined) return;
  throw new StateError(
    `${stateDir} has no state.json, but table inet ${table} of an earlier run exists: restore the file, or start with an empty state after: ${program} delete table inet ${table}`,
  );
}
