import type { PlannedWrite } from "../observe/planned-write.ts";
import { type ObjectVersion, PlannedOnlyError, type Work } from "../observe/work.ts";
import type { Outcome } from "./result.ts";

export interface PlannedWorkDependencies
  extends Pick<Work, "controller" | "key" | "provider" | "reconcileId" | "version"> {
  /** Aborts the signal of the reconcile. */
  readonly stop: (reason: unknown) => void;
}

/** One reconcile, and what it would have written. */
export class PlannedWork implements Work {
  readonly controller: string;
  readonly key: string;
  readonly provider: string;
  readonly reconcileId: string;
  readonly version: ObjectVersion | undefined;
  readonly #stop: (reason: unknown) => void;
  readonly #writes: PlannedWrite[] = [];
  #isStopped = false;

  constructor({ controller, key, provider, reconcileId, version, stop }: PlannedWorkDependencies) {
    this.controller = controller;
    this.key = key;
    this.provider = provider;
    this.reconcileId = reconcileId;
    this.version = version;
    this.#stop = stop;
  }

  note(write: PlannedWrite): void {
    this.#writes.push(write);
  }

  stop(): never {
    const error = new PlannedOnlyError();
    this.#isStopped = true;
    this.#stop(error);
    throw error;
  }

  /** What the reconcile came to, given how it ended. */
  outcome(ended: Outcome): Outcome {
    const isWell = ended.kind === "done" || ended.kind === "requeueAfter";
    return this.#isStopped || (isWell && this.#writes.length > 0) ? { kind: "planned" } : ended;
  }

  /** undefined: not known. */
  writesAt({ kind }: Outcome): readonly PlannedWrite[] | undefined {
    return kind === "planned" || kind === "done" || kind === "requeueAfter" ? this.#writes : undefined;
  }
}
