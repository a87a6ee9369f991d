import type { Logger } from "@cloudwire/provider-sdk";
import type { Config } from "../config/config.ts";
import { listenersOf } from "../plan/endpoints.ts";
import { renderHaproxy } from "../plan/haproxy-config.ts";
import { renderRuleset } from "../plan/nft-ruleset.ts";
import type { LoadBalancerRecord, Placement } from "../state/state.ts";
import { withoutLoadBalancer } from "../state/state.ts";
import type { Store } from "../state/store.ts";
import { coalesced } from "../util/coalesce.ts";
import type { Bird } from "./bird.ts";
import type { FlowTable } from "./flow-table.ts";
import type { Haproxy } from "./haproxy.ts";
import type { HealthMonitor } from "./health.ts";
import type { KernelAddresses } from "./kernel-addresses.ts";
import type { Nftables } from "./nftables.ts";

/** What forwards: each can fail alone. */
export type Part = "addresses" | "nftables" | "haproxy" | "bird";

/** All that forwards, made to be as the state says. */
export interface DataPlane {
  /** Applies the state as of this call or later. Never rejects: see {@link problemOf}. */
  readonly converge: () => Promise<void>;
  /** Why the load balancer is not as its record says; undefined: it is. */
  readonly problemOf: (record: LoadBalancerRecord) => string | undefined;
  /** What does not work at present, by part. */
  readonly problems: () => ReadonlyMap<Part, string>;
}

export interface DataPlaneParts {
  readonly addresses: KernelAddresses;
  readonly nftables: Nftables;
  readonly haproxy: Haproxy;
  readonly flows: FlowTable;
  readonly bird: Bird | undefined;
  readonly health: HealthMonitor;
}

export function dataPlane(config: Config, store: Store, parts: DataPlaneParts, log: Logger): DataPlane {
  const failures = new Map<Part, string>();
  const inForce = new Map<string, number>();
  const attempt = async (part: Part, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      if (failures.delete(part)) log.info("works again", { part });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (failures.get(part) !== message) log.error("Could not update the data plane", { part, problem: message });
      failures.set(part, message);
    }
  };

  const converge = coalesced(async () => {
    await store.refresh();
    const { loadBalancers } = store.state();
    const wanted = loadBalancers.filter(({ isDeleting }) => !isDeleting);
    const placements = placementsOf(config, wanted);
    const forwarded = listenersOf(wanted, "nftables").flatMap(({ backends }) => backends);
    await parts.health.watch(forwarded);
    const added: Placement[] = [];
    await attempt("addresses", async () => {
      added.push(...(await place(store, parts.addresses, placements)));
    });
    await attempt("nftables", async () => {
      const ruleset = renderRuleset(config.nftables.table, wanted, parts.health.isHealthy);
      if (await parts.nftables.apply(ruleset)) log.info("nftables changed", { revision: ruleset.revision });
      await parts.flows.forget(wanted, parts.health.isHealthy);
    });
    await attempt("haproxy", async () => {
      const done = await parts.haproxy.apply(renderHaproxy(config.haproxy, wanted));
      if (done !== "nothing") log.info("HAProxy changed", { by: done });
    });
    await attempt("bird", async () => {
      const pools = new Set(config.pools.filter(({ announce }) => announce === "bgp").map(({ name }) => name));
      const announced = wanted.flatMap(({ addresses }) => addresses.filter(({ pool }) => pools.has(pool)));
      if (await parts.bird?.apply(announced.map(({ address }) => address))) {
        log.info("BIRD changed", { addresses: announced.length });
      }
    });
    if (failures.size === 0) await removeUnwanted(store, parts.addresses, placements);
    for (const placement of added) void parts.addresses.announce(placement);
    for (const record of loadBalancers) {
      if (failed(config, record, failures) === undefined) inForce.set(record.key, record.revision);
    }
    await forgetDeleted(store, loadBalancers, inForce, failures);
  });

  return {
    converge: () => converge().catch((error: unknown) => log.error("Could not write the state", { error })),
    problems: () => failures,
    problemOf: (record) => {
      if ((inForce.get(record.key) ?? -1) >= record.revision) return undefined;
      return failed(config, record, failures) ?? "it is being created";
    },
  };
}

/** Where the addresses belong. */
function placementsOf(config: Config, wanted: readonly LoadBalancerRecord[]): readonly Placement[] {
  const devices = new Map(config.pools.map((pool) => [pool.name, pool.interface]));
  return wanted.flatMap(({ addresses }) =>
    // A pool may have been taken out of the configuration: its addresses stay reachable on this machine.
    addresses.map(({ address, pool }) => ({ address, interface: devices.get(pool) ?? "lo" })),
  );
}

const same = (left: Placement, right: Placement): boolean =>
  left.address === right.address && left.interface === right.interface;

/** Adds missing addresses. Stores them first, so that they are found after a crash. */
async function place(
  store: Store,
  kernel: KernelAddresses,
  wanted: readonly Placement[],
): Promise<readonly Placement[]> {
  const present = await kernel.list();
  const missing = wanted.filter((placement) => !present.some((one) => same(one, placement)));
  const unknown = wanted.filter((placement) => !store.state().placements.some((one) => same(one, placement)));
  if (unknown.length > 0) await store.update((state) => ({ ...state, placements: [...state.placements, ...unknown] }));
  for (const placement of missing) await kernel.add(placement);
  return missing;
}

/** Removes addresses of load balancers that were deleted or moved. */
async function removeUnwanted(store: Store, kernel: KernelAddresses, wanted: readonly Placement[]): Promise<void> {
  const unwanted = store.state().placements.filter((placement) => !wanted.some((one) => same(one, placement)));
  if (unwanted.length === 0) return;
  const present = await kernel.list();
  for (const placement of unwanted) if (present.some((one) => same(one, placement))) await kernel.remove(placement);
  await store.update((state) => ({
    ...state,
    placements: state.placements.filter((placement) => !unwanted.some((one) => same(one, placement))),
  }));
}

/** The error of a load balancer; errors of the other forwarder are not its own. */
function failed(
  config: Config,
  { forwarder, addresses, isDeleting }: LoadBalancerRecord,
  failures: ReadonlyMap<Part, string>,
): string | undefined {
  // A deletion takes away all that there may be, also of the forwarder that it had before.
  if (isDeleting) return [...failures.values()][0];
  const isAnnounced = addresses.some(({ pool }) =>
    config.pools.some(({ name, announce }) => name === pool && announce === "bgp"),
  );
  const needed: readonly Part[] = [
    "addresses",
    "nftables",
    ...(forwarder === "haproxy" ? (["haproxy"] as const) : []),
    ...(isAnnounced ? (["bird"] as const) : []),
  ];
  return needed.map((part) => failures.get(part)).find((problem) => problem !== undefined);
}

async function forgetDeleted(
  store: Store,
  records: readonly LoadBalancerRecord[],
  inForce: Map<string, number>,
  failures: ReadonlyMap<Part, string>,
): Promise<void> {
  if (failures.size > 0) return;
  const gone = records.filter(({ isDeleting }) => isDeleting);
  const isUnchanged = ({ key, revision }: LoadBalancerRecord): boolean =>
    store.state().loadBalancers.some((record) => record.key === key && record.revision === revision);
  const keys = gone.filter(isUnchanged).map(({ key }) => key);
  if (keys.length === 0) return;
  for (const key of keys) inForce.delete(key);
  await store.update((state) => keys.reduce(withoutLoadBalancer, state));
}
