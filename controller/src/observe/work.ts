import { AsyncLocalStorage } from "node:async_hooks";
import type { PlannedWrite } from "./plans.ts";

/** Which state of an object something was made from. */
export interface ObjectVersion {
  readonly resourceVersion: string;
  /** 0 for kinds that have none. */
  readonly generation: number;
}

/** One reconcile, seen from the edge at which things are written. */
export interface Work {
  /** Canonical name. */
  readonly controller: string;
  /** Of the reconcile. */
  readonly key: string;
  /** Whose the key is, by its lane; "": nobody's, or it cannot be told. */
  readonly provider: string;
  /** As in the log and in traces. */
  readonly reconcileID: string;
  /** The state of the object that the key names, as it was when the reconcile began; undefined: it names none, or one that is gone. */
  readonly version: ObjectVersion | undefined;
  /**
   * Notes a write that is not made.
   * @param item place in a call for several pieces of work
   */
  note(write: PlannedWrite, item?: number): void;
  /** Cuts the reconcile short, as a shutdown does: what would follow rests on a write that was not made. */
  stop(): never;
}

/** A write was not made because it is only planned here. Never reaches a user: the reconcile that meets it is cut short. */
export class PlannedOnlyError extends Error {
  readonly code = "PLANNED_ONLY";
  override readonly name = "PlannedOnlyError";

  constructor() {
    super("it was planned and not done, because its controller or provider is observed (--mode)");
  }
}

/** Follows a reconcile through everything that it awaits, so that a writer knows on whose account it writes. */
const works = new AsyncLocalStorage<Work>();

/** Whose work is being done; undefined: no reconcile's. */
export function currentWork(): Work | undefined {
  return works.getStore();
}

export function doWork<T>(work: Work, task: () => T): T {
  return works.run(work, task);
}

/** One call on behalf of several: each hears of its own item. */
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
