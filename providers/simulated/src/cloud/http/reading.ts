import { createHash } from "node:crypto";
import type { Consistency, Unreachable } from "../../api/common.ts";
import type { FaultKind } from "../../api/admin.ts";
import { CloudError } from "../errors.ts";
import type { Kind, ListFilter, Stored, Versioned } from "../store/resource-store.ts";
import { timestamp, type World } from "../world/world.ts";
import type { Call } from "./call.ts";

/** From where a call reads. */
export interface Position {
  readonly snapshot: number;
  readonly consistency: Consistency;
  readonly observedMs: number;
}

const defaultPageSize = 500;

/** Strong reads see everything; others lag as set; a stale replica answers even those who asked for a strong read. */
const positionOf = (world: World, call: Call, consistent: boolean, lag: "list" | "get"): Position => {
  const nowMs = world.clock.now();
  const staleMs = Math.max(0, ...call.faults.map((fault) => fault.staleMs ?? 0));
  const settings = world.settings().consistency;
  const lagMs = consistent ? 0 : lag === "list" ? settings.listLagMs : settings.getLagMs;
  const behindMs = Math.max(staleMs, lagMs);
  return {
    snapshot: behindMs === 0 ? world.store.latest() : world.store.snapshotAt(nowMs - behindMs),
    consistency: consistent && staleMs === 0 ? "strong" : "eventual",
    observedMs: nowMs - behindMs,
  };
};

export interface ListRequest<T extends Stored> {
  readonly kind: Kind<T>;
  readonly filter: ListFilter;
  readonly pageSize?: number | undefined;
  readonly pageToken?: string | undefined;
  readonly consistent?: boolean | undefined;
}

/** One page of a list; all pages show the snapshot of the first. */
export const readPage = <T extends Stored>(world: World, call: Call, request: ListRequest<T>) => {
  const digest = digestOf(request.kind.name, request.filter);
  const first = { ...positionOf(world, call, request.consistent ?? false, "list"), afterId: "" };
  const from = request.pageToken === undefined ? first : parseToken(world, request.pageToken, digest);
  const size = request.pageSize ?? defaultPageSize;
  const read = world.store.list(request.kind, call.account, request.filter, { ...from, limit: size + 1 });
  const items = read.slice(0, size);
  const last = items.at(-1);
  const isLast = read.length <= size || last === undefined;
  const unreachable = unreachableIn(call);
  const reachable = items.filter((item) => isReachable(unreachable, item));
  const answer = { items: reachable, ...readFields(call, from, unreachable) };
  if (strikes(call, "falseAbsence")) return { ...answer, items: [], complete: true };
  if (strikes(call, "emptyList")) return { ...answer, items: [] };
  if (strikes(call, "truncatedPage")) return { ...answer, items: halfOf(reachable) };
  if (isLast) return { ...answer, complete: unreachable.zones.length === 0 };
  return { ...answer, nextPageToken: formatToken({ ...from, afterId: last.id }, digest) };
};

export interface LookupRequest<T extends Stored> {
  readonly kind: Kind<T>;
  readonly ids: readonly string[];
  readonly names: readonly string[];
  readonly consistent?: boolean | undefined;
}

/** A batch look-up by ID and name. Missing objects are listed only if nothing was unreachable. */
export const readMany = <T extends Stored>(world: World, call: Call, request: LookupRequest<T>) => {
  const position = positionOf(world, call, request.consistent ?? false, "get");
  const { snapshot } = position;
  const byId = world.store.list(request.kind, call.account, { ids: request.ids }, { snapshot });
  const byName = world.store.list(request.kind, call.account, { names: request.names }, { snapshot });
  const found = [...new Map([...byId, ...byName].map((item) => [item.id, item])).values()];
  const unreachable = unreachableIn(call);
  const items = found.filter((item) => isReachable(unreachable, item));
  const answer = { items, ...readFields(call, position, unreachable) };
  const [ids, names] = [new Set(request.ids), new Set(request.names)];
  if (strikes(call, "falseAbsence")) return { ...answer, items: [], missing: { ids: [...ids], names: [...names] } };
  if (strikes(call, "emptyList")) return { ...answer, items: [] };
  if (strikes(call, "truncatedPage")) return { ...answer, items: halfOf(items) };
  if (unreachable.zones.length > 0) return answer;
  for (const item of found) {
    ids.delete(item.id);
    names.delete(item.name);
  }
  return { ...answer, missing: { ids: [...ids], names: [...names] } };
};

/** One resource; `get` throws the kind's own "not found". */
export const readOne = <T extends Stored>(
  world: World,
  call: Call,
  consistent: boolean | undefined,
  get: (snapshot: number) => Versioned<T>,
): Versioned<T> => {
  const unreachable = unreachableIn(call);
  const { snapshot } = positionOf(world, call, consistent ?? false, "get");
  const resource = unreachable.zones.length === 0 ? get(snapshot) : undecidedIsOutage(unreachable, () => get(snapshot));
  requireReachable(call, resource.zone);
  return resource;
};

/** Throws while the zone is out: nothing in it can be changed or made. */
export const requireReachable = (call: Call, zone: string | undefined): void => {
  const unreachable = unreachableIn(call);
  if (zone !== undefined && unreachable.zones.includes(zone)) throw outage(unreachable);
};

const strikes = (call: Call, kind: FaultKind): boolean => call.faults.some((fault) => fault.kind === kind);

const unreachableIn = (call: Call): Unreachable => ({
  zones: [...new Set(call.faults.flatMap((fault) => (fault.zone === undefined ? [] : [fault.zone])))],
});

const isReachable = (unreachable: Unreachable, item: Stored): boolean =>
  item.zone === undefined || !unreachable.zones.includes(item.zone);

/** What is not found might be in the zone that does not answer. */
const undecidedIsOutage = <T>(unreachable: Unreachable, get: () => T): T => {
  try {
    return get();
  } catch (error) {
    throw error instanceof CloudError && error.status === 404 ? outage(unreachable) : error;
  }
};

const outage = (unreachable: Unreachable): CloudError =>
  new CloudError("ServiceUnavailable", `zone ${unreachable.zones.join(", ")} cannot be reached`, 5);

const halfOf = <T>(items: readonly T[]): T[] => items.slice(0, Math.floor(items.length / 2));

const readFields = (call: Call, position: Position, unreachable: Unreachable) => ({
  account: call.account,
  consistency: position.consistency,
  observedAt: timestamp(position.observedMs),
  snapshot: String(position.snapshot),
  unreachable,
});

type Cursor = Position & { readonly afterId: string };

const formatToken = (cursor: Cursor, digest: string): string => {
  const { snapshot, consistency, observedMs, afterId } = cursor;
  return Buffer.from([snapshot, consistency, observedMs, afterId, digest].join(" ")).toString("base64url");
};

const parseToken = (world: World, token: string, digest: string): Cursor => {
  const [snapshot, consistency, observedMs, afterId, tokenDigest] = Buffer.from(token, "base64url")
    .toString()
    .split(" ");
  if (afterId === undefined || tokenDigest !== digest) {
    throw new CloudError("InvalidPageToken", "the page token is of another list: start over without one");
  }
  if (Number(snapshot) < world.store.floor()) {
    throw new CloudError("InvalidPageToken", "the page token has expired: start over without one");
  }
  return {
    snapshot: Number(snapshot),
    consistency: consistency === "strong" ? "strong" : "eventual",
    observedMs: Number(observedMs),
    afterId,
  };
};

const digestOf = (kind: string, filter: ListFilter): string =>
  createHash("sha256")
    .update(`${kind}${JSON.stringify(filter)}`)
    .digest("base64url")
    .slice(0, 16);
