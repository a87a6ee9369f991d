import type { Operation, OperationRecord } from "../../api/load-balancers.ts";
import { CloudError } from "../errors.ts";
import { newId } from "../store/meta.ts";
import type { Versioned } from "../store/resource-store.ts";
import { operationKind } from "./kinds.ts";
import { timestamp, type World } from "./world.ts";

/** How long a finished operation can still be read. */
const keptMs = 3_600_000;

export const startOperation = (
  world: World,
  account: string,
  type: OperationRecord["type"],
  resourceId: string,
  durationMs: number,
): Versioned<OperationRecord> => {
  const nowMs = world.clock.now();
  const id = newId(world.database, "op");
  const record: OperationRecord = {
    id,
    name: id,
    tags: {},
    createdAt: timestamp(nowMs),
    updatedAt: timestamp(nowMs),
    type,
    resourceId,
    state: "running",
    expectedEndAt: timestamp(nowMs + durationMs),
    message: "",
  };
  return world.store.put(operationKind, account, record);
};

export const endOperation = (
  world: World,
  account: string,
  id: string | undefined,
  state: "done" | "failed",
  message = "",
): void => {
  const operation = id === undefined ? undefined : world.store.get(operationKind, account, id);
  if (operation?.state !== "running") return;
  const { revision: _, ...record } = operation;
  const nowMs = world.clock.now();
  const ended = { ...record, state, message, updatedAt: timestamp(nowMs) };
  world.store.put(operationKind, account, ended, nowMs + keptMs);
};

export const getOperation = (world: World, account: string, id: string): Operation => {
  const operation = world.store.get(operationKind, account, id);
  if (!operation) throw new CloudError("OperationNotFound", `no operation ${id} in account ${account}`);
  return withProgress(operation, world.clock.now());
};

/** What the scheduler does when an operation is due. */
export const forgetOperation = (world: World, account: string, id: string): void => {
  const operation = world.store.get(operationKind, account, id);
  if (operation && operation.state !== "running") world.store.delete(operationKind, account, operation);
};

/** Progress is the share of the expected time that went by; it says 100 only when the operation is over. */
export const withProgress = (operation: Versioned<OperationRecord>, nowMs: number): Operation => {
  if (operation.state !== "running") return { ...operation, progressPercent: 100 };
  const startMs = Date.parse(operation.createdAt);
  const spanMs = Math.max(1, Date.parse(operation.expectedEndAt) - startMs);
  const share = Math.floor((100 * (nowMs - startMs)) / spanMs);
  return { ...operation, progressPercent: Math.min(99, Math.max(0, share)) };
};
