import type { RouteRecord } from "../state/state.ts";
import { familyOf, parseCidr } from "@cloudwire/provider-sdk/addresses";

/** A route of the kernel's table. */
export interface KernelRoute {
  readonly destination: string;
  readonly gateway: string | undefined;
  readonly protocol: number;
}

export interface RouteTable {
  readonly protocol: number;
  readonly table: number;
}

/** Lines for `ip -batch`, and conflicting destinations. */
export interface RouteSteps {
  readonly commands: readonly string[];
  /** Destinations with a route of another owner. */
  readonly conflicts: ReadonlySet<string>;
}

/** What brings the wanted routes into the table and the unwanted out of it. Routes without our protocol number are left alone. */
export function planRoutes(
  { protocol, table }: RouteTable,
  kernel: readonly KernelRoute[],
  wanted: readonly RouteRecord[],
  unwanted: readonly RouteRecord[] = [],
): RouteSteps {
  const byDestination = Map.groupBy(kernel, ({ destination }) => destination);
  const conflicts = new Set<string>();
  const suffix = `proto ${protocol} table ${table}`;
  const ensured = wanted.flatMap(({ destination, gateway }) => {
    const present = byDestination.get(destination) ?? [];
    if (present.some((route) => route.protocol !== protocol)) {
      conflicts.add(destination);
      return [];
    }
    if (present.some((route) => route.gateway === gateway) && present.length === 1) return [];
    return [`route ${present.length === 0 ? "add" : "replace"} ${destination} via ${gateway} ${suffix}`];
  });
  const removed = unwanted.flatMap(({ destination }) =>
    (byDestination.get(destination) ?? [])
      .filter((route) => route.protocol === protocol)
      .map(
        (route) => `route del ${destination}${route.gateway === undefined ? "" : ` via ${route.gateway}`} ${suffix}`,
      ),
  );
  return { commands: [...removed, ...ensured], conflicts };
}

/** Whether the kernel has the route as wanted. */
export function isInTable({ protocol }: RouteTable, kernel: readonly KernelRoute[], route: RouteRecord): boolean {
  return kernel.some(
    (one) => one.destination === route.destination && one.gateway === route.gateway && one.protocol === protocol,
  );
}

/** Destinations to which the kernel has no route of ours, whichever way. */
export function goneFrom(
  { protocol }: RouteTable,
  kernel: readonly KernelRoute[],
  unwanted: readonly RouteRecord[],
): ReadonlySet<string> {
  const left = new Set(kernel.flatMap((one) => (one.protocol === protocol ? one.destination : [])));
  return new Set(unwanted.flatMap(({ destination }) => (left.has(destination) ? [] : destination)));
}

/** Reads what `ip -N -j route show` prints. */
export function parseRoutes(json: string): readonly KernelRoute[] {
  const rows: unknown = JSON.parse(json.trim() === "" ? "[]" : json);
  if (!Array.isArray(rows)) throw new Error("ip route did not print a list");
  return rows.flatMap((row: unknown): KernelRoute[] => {
    if (typeof row !== "object" || row === null || !("dst" in row) || typeof row.dst !== "string") return [];
    const destination = networkOf(row.dst);
    if (destination === undefined) return [];
    const gateway = "gateway" in row && typeof row.gateway === "string" ? row.gateway : undefined;
    const protocol = "protocol" in row ? Number(row.protocol) : 0;
    return [{ destination, gateway, protocol }];
  });
}

/** The kernel writes single hosts without prefix length; `default` is no pod CIDR. */
function networkOf(destination: string): string | undefined {
  const family = familyOf(destination);
  return parseCidr(family === undefined ? destination : `${destination}/${family === 4 ? 32 : 128}`)?.text;
}
