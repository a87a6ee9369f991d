import { AsyncLocalStorage } from "node:async_hooks";
import type { PlannedWrite } from "./plans.ts";

export interface ObjectVersion {
  readonly resourceVersion: string;
  readonly generation: number;
}

/** The reconcile that a write belongs to. */
export interface Work {
  readonly controller: string;
  readonly key: string;
  /** The owner of the key, by its subqueue; "": none or unknown. */
  readonly provider: string;
  readonly reconcileID: string;
  /** The version of the key's object when the reconcile started; undefined: none or deleted. */
  readonly version: ObjectVersion | undefined;
  /**
   * Records a planned write.
   * @param item index in a call for several keys
   */
  note(write: PlannedWrite, item?: number): void;
  /** Cancels the reconcile, because the next steps depend on a write that was not made. */
  stop(): never;
}

/** Cancels a reconcile at a planned write. Never reaches a user. */
export class PlannedOnlyError extends Error {
  readonly code = "PLANNED_ONLY";
  override readonly name = "PlannedOnlyError";

  constructor() {
    super("it was planned but not made, because its controller or provider is in observe mode (--mode)");
  }
}

/** Identifies the reconcile in all code that it awaits. */
const works = new AsyncLocalStorage<Work>();

export function currentWork(): Work | undefined {
  return works.getStore();
}

export function doWork<T>(work: Work, task: () => T): T {
  return works.run(work, task);
}

/** One call for several reconciles. Each records its own item. */
export function doSharedWork<T>(shares: readonly (Work | undefined)[], task: () => T): T {
  const first = shares.find((share) => share !== undefined);
  if (first === undefined) return task();
  const shared: Work = {
    controller: first.controller,
    key: first.key,
    provider: first.provider,
    reconcileID: first.reconcileID,
    version: first.version,
    note: (write, item) => {
      const concerned = item === undefined ? new Set(shares) : [shares[item]];
      for (const share of concerned) share?.note(write);
    },
    stop: () => first.stop(),
  };
  return works.run(shared, task);
}
