import { isDeepStrictEqual } from "node:util";
import type {
  LoadBalancer,
  LoadBalancerPatch,
  LoadBalancerRecord,
  LoadBalancerSpec,
} from "../../api/load-balancers.ts";
import { CloudError } from "../errors.ts";
import { checkRegion } from "../geography.ts";
import { release } from "../store/allocations.ts";
import { newId } from "../store/meta.ts";
import { loadBalancerKind } from "./kinds.ts";
import { checkSourceRanges, takeAddress, toListeners } from "./load-balancer-spec.ts";
import { endOperation, startOperation } from "./operations.ts";
import { checkQuota } from "./quota.ts";
import { changeTargets, forgetTargets, summaryOf, type TargetChange } from "./targets.ts";
import { timestamp, type World } from "./world.ts";

/** A change of a load balancer, and what it did not do. */
export interface LoadBalancerChanged {
  readonly loadBalancer: LoadBalancer;
  /** Target ids that belong to no instance. */
  readonly ignoredTargets: readonly string[];
}

export const createLoadBalancer = (world: World, account: string, spec: LoadBalancerSpec): LoadBalancerChanged =>
  world.database.transaction(() => {
    const [existing] = world.store.list(loadBalancerKind, account, { names: [spec.name] });
    if (existing) throw new CloudError("NameInUse", `load balancer ${existing.id} has the name ${spec.name}`);
    checkQuota(world, account, "loadBalancers", 1);
    const region = checkRegion(world.geography, spec.region);
    const id = newId(world.database, "lb");
    const address = takeAddress(world, id, spec.requestedAddress);
    const targets = changeTargets(world, account, id, { targets: spec.targets ?? [] });
    const durationMs = world.settings().delays.loadBalancerCreateMs;
    const operation = startOperation(world, account, "loadBalancer.create", id, durationMs);
    const now = timestamp(world.clock.now());
    const record: LoadBalancerRecord = {
      id,
      name: spec.name,
      class: spec.class ?? "standard",
      region,
      address,
      hostname: `${id}.${region}.lb.simcloud.internal`,
      state: "provisioning",
      stateReason: "",
      listeners: toListeners(world, spec.listeners),
      sourceRanges: checkSourceRanges(spec.sourceRanges ?? []),
      sessionAffinity: spec.sessionAffinity ?? "none",
      idleTimeoutMs: spec.idleTimeoutMs ?? 60_000,
      ...(spec.healthCheck ? { healthCheck: spec.healthCheck } : {}),
      protected: spec.protected ?? false,
      tags: spec.tags ?? {},
      metadata: spec.metadata ?? {},
      ...(targets.summary ?? summaryOf([])),
      operationId: operation.id,
      createdAt: now,
      updatedAt: now,
    };
    const loadBalancer = world.store.put(loadBalancerKind, account, record, world.clock.now() + durationMs);
    return { loadBalancer, ignoredTargets: targets.ignored };
  });

export const getLoadBalancer = (world: World, account: string, id: string, snapshot?: number): LoadBalancer => {
  const loadBalancer = world.store.get(loadBalancerKind, account, id, snapshot);
  if (!loadBalancer) throw new CloudError("LoadBalancerNotFound", `no load balancer ${id} in account ${account}`);
  return loadBalancer;
};

/** A patch that changes nothing writes nothing. */
export const patchLoadBalancer = (
  world: World,
  account: string,
  id: string,
  patch: LoadBalancerPatch,
  ifRevision?: number,
): LoadBalancerChanged =>
  world.database.transaction(() => {
    const { revision, ...record } = changeable(world, account, id, ifRevision);
    const { listeners, healthCheck, ...rest } = patch;
    const { healthCheck: before, ...kept } = record;
    const check = healthCheck === undefined ? before : (healthCheck ?? undefined);
    const wanted: LoadBalancerRecord = {
      ...kept,
      ...rest,
      ...(check ? { healthCheck: check } : {}),
      sourceRanges: checkSourceRanges(patch.sourceRanges ?? record.sourceRanges),
      listeners: listeners ? toListeners(world, listeners, record.listeners) : record.listeners,
    };
    if (isDeepStrictEqual(wanted, record)) return { loadBalancer: { ...record, revision }, ignoredTargets: [] };
    const updatedAt = timestamp(world.clock.now());
    if (!touchesTraffic(patch) || record.state === "provisioning") {
      return { loadBalancer: keepDue(world, account, { ...wanted, updatedAt }), ignoredTargets: [] };
    }
    const durationMs = world.settings().delays.loadBalancerUpdateMs;
    // A second update while one is under way joins it: its end is put off.
    const operationId = record.operationId ?? startOperation(world, account, "loadBalancer.update", id, durationMs).id;
    const updating: LoadBalancerRecord = { ...wanted, state: "updating", operationId, updatedAt };
    const dueMs = world.clock.now() + durationMs;
    return { loadBalancer: world.store.put(loadBalancerKind, account, updating, dueMs), ignoredTargets: [] };
  });

/** Targets are changed at once, without an operation; connections that are open stay. */
export const setTargets = (
  world: World,
  account: string,
  id: string,
  change: TargetChange,
  metadata?: Record<string, string>,
): LoadBalancerChanged =>
  world.database.transaction(() => {
    const { revision, ...record } = changeable(world, account, id);
    const { summary, ignored } = changeTargets(world, account, id, change);
    if (summary) world.forwarder.targetsChanged(id);
    const wanted = { ...record, ...summary, metadata: { ...record.metadata, ...metadata } };
    if (isDeepStrictEqual(wanted, record)) return { loadBalancer: { ...record, revision }, ignoredTargets: ignored };
    const updatedAt = timestamp(world.clock.now());
    return { loadBalancer: keepDue(world, account, { ...wanted, updatedAt }), ignoredTargets: ignored };
  });

/** Traffic ends at once; the resource stays in "deleting" as long as the cloud takes. Deleting twice is no error. */
export const deleteLoadBalancer = (world: World, account: string, id: string, ifRevision?: number): LoadBalancer =>
  world.database.transaction(() => {
    const { revision, ...record } = getLoadBalancer(world, account, id);
    if (record.state === "deleting") return { ...record, revision };
    checkRevision(id, revision, ifRevision);
    if (record.protected) throw new CloudError("ResourceProtected", `load balancer ${id} is protected from deletion`);
    endOperation(world, account, record.operationId, "failed", "the load balancer was deleted in the meantime");
    const durationMs = world.settings().delays.loadBalancerDeleteMs;
    const operation = startOperation(world, account, "loadBalancer.delete", id, durationMs);
    const deleting: LoadBalancerRecord = {
      ...record,
      state: "deleting",
      stateReason: "",
      operationId: operation.id,
      updatedAt: timestamp(world.clock.now()),
    };
    return world.store.put(loadBalancerKind, account, deleting, world.clock.now() + durationMs);
  });

/** The end of a deletion: the name and the address are free again. */
export const forgetLoadBalancer = (world: World, account: string, id: string): void => {
  world.database.transaction(() => {
    const record = world.store.get(loadBalancerKind, account, id);
    if (record?.state !== "deleting") return;
    release(world.database, id);
    forgetTargets(world.database, id);
    endOperation(world, account, record.operationId, "done");
    world.store.delete(loadBalancerKind, account, record);
  });
};

const changeable = (world: World, account: string, id: string, ifRevision?: number): LoadBalancer => {
  const loadBalancer = getLoadBalancer(world, account, id);
  if (loadBalancer.state === "deleting") {
    throw new CloudError("InvalidState", `load balancer ${id} is being deleted`);
  }
  checkRevision(id, loadBalancer.revision, ifRevision);
  return loadBalancer;
};

const checkRevision = (id: string, revision: number, expected: number | undefined): void => {
  if (expected === undefined || expected === revision) return;
  throw new CloudError("RevisionMismatch", `load balancer ${id} has revision ${revision}, not ${expected}`);
};

const touchesTraffic = (patch: LoadBalancerPatch): boolean =>
  [patch.listeners, patch.sourceRanges, patch.sessionAffinity, patch.idleTimeoutMs, patch.healthCheck].some(
    (part) => part !== undefined,
  );

/** A change besides the operation under way must not lose the time at which that one ends. */
const keepDue = (world: World, account: string, record: LoadBalancerRecord): LoadBalancer =>
  world.store.put(loadBalancerKind, account, record, world.store.dueOf(loadBalancerKind, account, record.id));
