import type { PlannedChange } from "@cloudwire/provider-sdk";
import { canonicalAddress, canonicalRanges } from "@cloudwire/provider-sdk/addresses";
import type { Listener, Member, Monitor, Parts, Pool } from "./octavia.ts";
import type { DesiredListener, DesiredMember, DesiredMonitor, DesiredPool } from "./octavia-spec.ts";

/** A request to Octavia, which then works on the load balancer and takes no other until it has ended. */
export interface Step {
  readonly change: PlannedChange;
  readonly method: "POST" | "PUT" | "DELETE";
  /** Below `/lbaas`; `{pool}` stands for the id of the pool that `needsPool` names, which may be made by an earlier step. */
  readonly path: string;
  /** Undefined for deletes. `{pool}` likewise. */
  readonly body?: Readonly<Record<string, object>> | undefined;
  readonly needsPool?: string | undefined;
  /** The pool of this name is made by the step. */
  readonly makesPool?: string | undefined;
  /** True: it deletes what nothing needs any more once the listeners are deleted, so that it can be carried out earlier to make room in a quota. */
  readonly isUnneeded?: boolean | undefined;
}

/** Stands in a step for the id of a pool. */
const poolPlace = "{pool}";

/** A listener that is wanted and the targets of its pool. */
export interface Wanted extends WantedMembers {
  readonly listener: DesiredListener;
}

/** The targets of a pool. */
export interface WantedMembers {
  readonly members: readonly DesiredMember[];
  /** True: there are nodes, although perhaps none has an address. */
  readonly isForNodes: boolean;
}

/**
 * Steps to reconcile the load balancer's parts, in order: blocking parts are deleted first, pools are filled before traffic is sent to them, and
 * what nothing points to any more goes last.
 */
export function planParts(balancerId: string, wanted: readonly Wanted[], present: Parts): readonly Step[] {
  const names = new Set(wanted.map(({ listener }) => listener.name));
  const poolNames = new Set(wanted.map(({ listener }) => listener.pool.name));
  const unwanted = present.pools.filter(({ name }) => !poolNames.has(name));
  const kept = present.listeners.filter(({ name }) => names.has(name));
  const isInUse = ({ id }: Pool): boolean => kept.some(({ default_pool_id: poolId }) => poolId === id);
  return [
    ...present.listeners.filter(({ name }) => !names.has(name)).map((each) => deletion("listener", "listeners", each)),
    ...wanted.flatMap(({ listener, ...members }) => [
      ...planPool(balancerId, listener.pool, members, present),
      ...planListener(balancerId, listener, present),
    ]),
    ...unwanted.map((each) => ({ ...deletion("pool", "pools", each), isUnneeded: !isInUse(each) })),
  ];
}

/**
 * What makes the targets of one pool be these: one request, whatever has changed, and none if nothing has. A target's subnet alone cannot be changed, so
 * that those of another one go first; if these are all, only half of them at a time. As long as no node has an address, the present targets stay.
 */
export function planMembers(
  poolName: string,
  { members: wanted, isForNodes }: WantedMembers,
  present: readonly Member[],
): readonly Step[] {
  if (wanted.length === 0 && isForNodes) return [];
  const desired = new Set(wanted.map(wantedKey));
  const have = new Set(present.map(memberKey));
  const added = [...desired].filter((key) => !have.has(key)).length;
  const removed = [...have].filter((key) => !desired.has(key)).length;
  if (added === 0 && removed === 0) return [];
  const last = writeMembers(poolName, wanted, `${added} nodes added, ${removed} removed`);
  return [...moveMembers(wanted, present).map((each) => writeMembers(poolName, each, movedSummary)), last];
}

const movedSummary = "change the subnet of nodes";

/** The targets of the pool step by step, until those of another subnet are gone. */
function moveMembers(
  wanted: readonly DesiredMember[],
  present: readonly Member[],
): readonly (readonly DesiredMember[])[] {
  const before = new Map(
    wanted.flatMap((each) => {
      const member = present.find((other) => isMoved(each, other));
      return member ? [[each, { ...each, subnetId: member.subnet_id ?? undefined }] as const] : [];
    }),
  );
  const staying = wanted.filter((each) => !before.has(each));
  if (before.size === 0) return [];
  if (staying.length > 0 || before.size === 1) return [staying];
  const [first, second] = [wanted.slice(0, Math.ceil(wanted.length / 2)), wanted.slice(Math.ceil(wanted.length / 2))];
  const old = second.flatMap((each) => before.get(each) ?? []);
  return [old, [...first, ...old], first];
}

function isMoved({ address, port, subnetId }: DesiredMember, member: Member): boolean {
  const isSame = canonicalAddress(address) === canonicalAddress(member.address);
  return isSame && port === member.protocol_port && subnetId !== (member.subnet_id ?? undefined);
}

function writeMembers(poolName: string, wanted: readonly DesiredMember[], summary: string): Step {
  const members = wanted.map(({ name, address, port, subnetId, monitorPort }) => ({
    name: name.slice(0, 255),
    address,
    protocol_port: port,
    ...(subnetId === undefined ? {} : { subnet_id: subnetId }),
    ...(monitorPort === undefined ? {} : { monitor_port: monitorPort }),
  }));
  return {
    change: { action: "update", resourceType: "pool members", resourceId: poolName, summary },
    method: "PUT",
    path: `/pools/${poolPlace}/members`,
    body: { members },
    needsPool: poolName,
  };
}

function planPool(balancerId: string, wanted: DesiredPool, members: WantedMembers, present: Parts): readonly Step[] {
  const { name } = wanted;
  const pool = present.pools.find((each) => each.name === name);
  const affinity = affinityFields(wanted);
  const own: readonly Step[] = pool
    ? changedPool(pool, wanted)
    : [
        {
          change: { action: "create", resourceType: "pool", resourceId: name },
          method: "POST",
          path: "/pools",
          body: {
            pool: {
              name,
              loadbalancer_id: balancerId,
              protocol: wanted.protocol,
              lb_algorithm: "ROUND_ROBIN",
              ...affinity,
            },
          },
          makesPool: name,
        },
      ];
  const known = pool?.id ?? "";
  return [
    ...own,
    ...planMembers(name, members, present.members.get(known) ?? []),
    ...planMonitor(name, wanted.monitor, present.monitors.get(known)),
  ];
}

function affinityFields({ affinity }: DesiredPool): { readonly session_persistence: object | null } {
  if (affinity === undefined) return { session_persistence: null };
  const { timeoutSeconds } = affinity;
  const timeout = timeoutSeconds === undefined ? {} : { persistence_timeout: timeoutSeconds };
  return { session_persistence: { type: "SOURCE_IP", ...timeout } };
}

function changedPool({ id, name, session_persistence: present }: Pool, wanted: DesiredPool): readonly Step[] {
  const isAsWanted =
    (present?.type === "SOURCE_IP") === (wanted.affinity !== undefined) &&
    (present?.persistence_timeout ?? undefined) === wanted.affinity?.timeoutSeconds;
  if (isAsWanted) return [];
  const change = { action: "update", resourceType: "pool", resourceId: name, summary: "session persistence" } as const;
  return [{ change, method: "PUT", path: `/pools/${id}`, body: { pool: affinityFields(wanted) } }];
}

/** The kind of a monitor cannot be changed. */
function planMonitor(
  poolName: string,
  wanted: DesiredMonitor | undefined,
  present: Monitor | undefined,
): readonly Step[] {
  if (wanted && present?.type === wanted.type) return changedMonitor(poolName, wanted, present);
  const gone = present ? [deletion("health monitor", "healthmonitors", { id: present.id, name: poolName })] : [];
  if (wanted === undefined) return gone;
  const body = { healthmonitor: { pool_id: poolPlace, name: poolName, type: wanted.type, ...monitorFields(wanted) } };
  const change = { action: "create", resourceType: "health monitor", resourceId: poolName } as const;
  return [...gone, { change, method: "POST", path: "/healthmonitors", body, needsPool: poolName }];
}

function changedMonitor(poolName: string, wanted: DesiredMonitor, present: Monitor): readonly Step[] {
  const fields: Readonly<Record<string, string | number>> = monitorFields(wanted);
  const have = new Map<string, unknown>(Object.entries(present));
  if (Object.entries(fields).every(([key, value]) => have.get(key) === value)) return [];
  const change = { action: "update", resourceType: "health monitor", resourceId: poolName } as const;
  return [{ change, method: "PUT", path: `/healthmonitors/${present.id}`, body: { healthmonitor: fields } }];
}

function monitorFields({ delaySeconds, timeoutSeconds, maxRetries, maxRetriesDown, path }: DesiredMonitor) {
  return {
    delay: delaySeconds,
    timeout: timeoutSeconds,
    max_retries: maxRetries,
    max_retries_down: maxRetriesDown,
    ...(path === undefined ? {} : { url_path: path }),
  };
}

function planListener(balancerId: string, wanted: DesiredListener, present: Parts): readonly Step[] {
  const { name, protocol, port, pool } = wanted;
  const fields = {
    default_pool_id: poolPlace,
    allowed_cidrs: [...wanted.allowedCidrs],
    ...(wanted.forwardedFor ? { insert_headers: { "X-Forwarded-For": "true" } } : {}),
    ...wanted.options,
  };
  const listener = present.listeners.find((each) => each.name === name);
  if (listener === undefined) {
    const body = { listener: { name, loadbalancer_id: balancerId, protocol, protocol_port: port, ...fields } };
    const change = { action: "create", resourceType: "listener", resourceId: name } as const;
    return [{ change, method: "POST", path: "/listeners", body, needsPool: pool.name }];
  }
  const poolId = present.pools.find((each) => each.name === pool.name)?.id;
  const isAsWanted =
    poolId !== undefined &&
    listener.default_pool_id === poolId &&
    sameRanges(wanted.allowedCidrs, listener.allowed_cidrs ?? []) &&
    Object.entries(wanted.options).every(([key, value]) => Reflect.get(listener, key) === value);
  if (isAsWanted) return [];
  const change = { action: "update", resourceType: "listener", resourceId: name } as const;
  return [
    { change, method: "PUT", path: `/listeners/${listener.id}`, body: { listener: fields }, needsPool: pool.name },
  ];
}

function deletion(kind: string, collection: string, { id, name }: Pick<Listener, "id" | "name">): Step {
  const change = { action: "delete", resourceType: kind, resourceId: name } as const;
  return { change, method: "DELETE", path: `/${collection}/${id}` };
}

/** Octavia may have them in another spelling. */
function sameRanges(left: readonly string[], right: readonly string[]): boolean {
  return JSON.stringify(canonicalRanges(left)) === JSON.stringify(canonicalRanges(right));
}

function wantedKey({ address, port, subnetId, monitorPort }: DesiredMember): string {
  return [canonicalAddress(address) ?? address, port, subnetId ?? "", monitorPort ?? ""].join(" ");
}

function memberKey({ address, protocol_port: port, subnet_id: subnetId, monitor_port: monitorPort }: Member): string {
  return [canonicalAddress(address) ?? address, port, subnetId ?? "", monitorPort ?? ""].join(" ");
}

/** A step with the ids of pools put in. @throws TypeError for a pool that does not exist */
export function withPool(step: Step, poolIds: ReadonlyMap<string, string>): Pick<Step, "path" | "body"> {
  if (step.needsPool === undefined) return { path: step.path, body: step.body };
  const id = poolIds.get(step.needsPool);
  if (id === undefined) throw new TypeError(`no step made pool ${step.needsPool}`);
  const body =
    step.body && Object.fromEntries(Object.entries(step.body).map(([key, value]) => [key, filled(value, id)]));
  return { path: step.path.replace(poolPlace, id), body };
}

function filled(value: object, id: string): object {
  if (Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, field === poolPlace ? id : field]));
}
