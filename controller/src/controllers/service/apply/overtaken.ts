import { keyOf } from "../../../api/meta.ts";
import type { Service } from "../../../api/service.ts";
import { type Result, requeueAfter } from "../../../runtime/reconciler.ts";
import { causesOf } from "../../../util/errors.ts";
import { isDeleting, isDeletionProtected, needsUpdate, wantsLoadBalancer } from "../predicates.ts";
import type { ApplyDependencies } from "./dependencies.ts";

/** Long enough for others to have their turn, should what is planned and what is seen here ever disagree. */
const REPLAN_MS = 1000;

/** What was planned is not to be done any more: the Service has changed while a change waited for its turn. */
class OvertakenError extends Error {
  readonly code = "OVERTAKEN";
  override readonly name = "OvertakenError";
}

type Looking = Pick<ApplyDependencies, "records" | "services" | "ownWrites">;

/** To be asked when its turn has come, for what is deleted does not come back. */
export function refuseOvertakenDelete(service: Service, deps: Looking): void {
  const now = current(service, deps);
  const isWanted = now !== undefined && wantsLoadBalancer(now) && !isDeleting(now);
  if (isWanted || isDeletionProtected(now ?? lastOf(service, deps))) throw overtaken(service);
}

/** As {@link refuseOvertakenDelete}: another wish may make the previous provider the present one. */
export function refuseOvertakenRetire(service: Service, deps: Looking): void {
  const now = current(service, deps);
  const isAnother = now !== undefined && needsUpdate(service, now);
  if (isAnother || isDeletionProtected(now ?? lastOf(service, deps))) throw overtaken(service);
}

/** Plans anew soon, on what was seen here. */
export async function unlessOvertaken(applied: Promise<Result>): Promise<Result> {
  try {
    return await applied;
  } catch (error) {
    if (isOvertaken(error)) return requeueAfter(REPLAN_MS);
    throw error;
  }
}

/** Found here, or when the call was to be sent. */
export function isOvertaken(error: unknown): boolean {
  return causesOf(error).some((cause) => cause instanceof OvertakenError);
}

/** As the next gathering will see it, or the same would be planned and refused again for ever. undefined: it is gone. */
function current(service: Service, { services, ownWrites }: Looking): Service | undefined {
  const cached = services.get(keyOf(service));
  return cached?.metadata.uid === service.metadata.uid ? ownWrites.latest(cached) : undefined;
}

function lastOf(service: Service, { records }: Looking): Service {
  const record = records.get(keyOf(service));
  return record?.uid === service.metadata.uid && record.isDeleted ? record.lastSeen : service;
}

function overtaken(service: Service): OvertakenError {
  return new OvertakenError(`Service ${keyOf(service)} has changed; its load balancer was not deleted`);
}
