import type { IpFamily } from "@cloudwire/provider-sdk";
import type { Pool } from "../config/config.ts";
import { canonicalAddress, contains, familyOf, formatAddress } from "@cloudwire/provider-sdk/addresses";

export interface Allocated {
  readonly address: string;
  readonly pool: string;
}

export interface AllocationRequest {
  readonly families: readonly IpFamily[];
  readonly requestedIps: readonly string[];
  /** Name of the only pool to take from. */
  readonly pool: string | undefined;
  /** The current addresses of the load balancer. */
  readonly current: readonly Allocated[];
}

/** Why there is no address. */
export interface AllocationProblem {
  readonly kind: "inUse" | "outside" | "exhausted" | "unknownPool";
  readonly message: string;
  readonly address?: string;
}

const families = { IPv4: 4, IPv6: 6 } as const;

/**
 * Addresses for a load balancer, one a family: the requested one, or the one it has, or the first that is free.
 * @param taken the owner of an address; undefined: it is free
 */
export function allocate(
  pools: readonly Pool[],
  request: AllocationRequest,
  taken: (address: string) => string | undefined,
): readonly Allocated[] | AllocationProblem {
  if (request.pool !== undefined && !pools.some(({ name }) => name === request.pool)) {
    const names = pools.map(({ name }) => name).join(", ");
    return { kind: "unknownPool", message: `there is no address pool ${request.pool}; there are: ${names}` };
  }
  const answer: Allocated[] = [];
  for (const family of request.families) {
    const one = allocateOne(pools, request, taken, family);
    if ("kind" in one) return one;
    answer.push(one);
  }
  return answer;
}

function allocateOne(
  pools: readonly Pool[],
  { requestedIps, pool: poolName, current }: AllocationRequest,
  taken: (address: string) => string | undefined,
  family: IpFamily,
): Allocated | AllocationProblem {
  const isOfFamily = (address: string): boolean => familyOf(address) === families[family];
  const candidates = pools.filter(({ name, autoAssign }) => (poolName === undefined ? autoAssign : name === poolName));
  const requested = requestedIps.find(isOfFamily);
  if (requested !== undefined) return allocateRequested(pools, requested, current, taken);
  const kept = current.find(({ address }) => isOfFamily(address));
  if (kept !== undefined && (poolName === undefined || kept.pool === poolName)) return kept;
  for (const pool of candidates) {
    const address = firstFree(pool, families[family], taken);
    if (address !== undefined) return { address, pool: pool.name };
  }
  const where = candidates.map(({ name }) => name).join(", ") || "none with autoAssign";
  return { kind: "exhausted", message: `no ${family} address is free in the address pools (${where})` };
}

function allocateRequested(
  pools: readonly Pool[],
  requested: string,
  current: readonly Allocated[],
  taken: (address: string) => string | undefined,
): Allocated | AllocationProblem {
  const address = canonicalAddress(requested) ?? requested;
  const kept = current.find((one) => one.address === address);
  if (kept !== undefined) return kept;
  const pool = pools.find(({ ranges }) => ranges.some((range) => contains(range, address)));
  if (pool === undefined) return { kind: "outside", message: `address ${address} is in no address pool`, address };
  const owner = taken(address);
  if (owner === undefined) return { address, pool: pool.name };
  return { kind: "inUse", message: `address ${address} is in use by ${owner}`, address };
}

function firstFree(
  { ranges }: Pool,
  family: 4 | 6,
  taken: (address: string) => string | undefined,
): string | undefined {
  for (const range of ranges) {
    if (range.family !== family) continue;
    for (let value = range.first; value <= range.last; value += 1n) {
      const address = formatAddress(family, value);
      if (taken(address) === undefined) return address;
    }
  }
  return undefined;
}
