import { raceAbort } from "./abort.ts";

/** Told when a background task ends with an error. */
export type TaskFailure = (name: string, error: unknown) => void;

/** Named background tasks with one owner: started together, cancelled together, none forgotten. */
export class TaskGroup {
  readonly #controller = new AbortController();
  readonly #tasks = new Map<Promise<void>, string>();
  readonly #onFailure: TaskFailure;

  constructor(onFailure: TaskFailure) {
    this.#onFailure = onFailure;
  }

  /** Aborts when the group is stopped. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Names of the tasks still running. */
  get running(): readonly string[] {
    return [...this.#tasks.values()];
  }

  /** Runs `task` in the background. A rejection goes to the failure callback, unless the group was being stopped. */
  start(name: string, task: (signal: AbortSignal) => Promise<void>): void {
    const running = this.#guard(name, task).finally(() => this.#tasks.delete(running));
    this.#tasks.set(running, name);
  }

  /** Aborts every task and waits for all to end, or for `limit` to abort (then it rejects with its reason). */
  async stop(reason: unknown, limit?: AbortSignal): Promise<void> {
    this.#controller.abort(reason);
    const all = Promise.all(this.#tasks.keys()).then(() => undefined);
    await (limit === undefined ? all : raceAbort(all, limit));
  }

  async #guard(name: string, task: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await task(this.signal);
    } catch (error) {
      if (!this.signal.aborted) this.#onFailure(name, error);
    }
  }
}
