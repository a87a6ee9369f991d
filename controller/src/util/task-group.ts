import { raceAbort } from "./abort.ts";

/** Named background tasks that are stopped together. */
export class TaskGroup {
  readonly #controller = new AbortController();
  readonly #tasks = new Map<Promise<void>, string>();
  readonly #onFailure: (task: string, error: unknown) => void;

  /** @param onFailure called when a task ends with an error */
  constructor(onFailure: (task: string, error: unknown) => void) {
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

  /** Runs `task` in the background. Rejections are ignored once the group is stopped. */
  start(name: string, task: (signal: AbortSignal) => Promise<void>): void {
    const running = this.#guard(name, task).finally(() => this.#tasks.delete(running));
    this.#tasks.set(running, name);
  }

  /** Aborts every task and waits for all to end; rejects with the reason of `limit` if it aborts first. */
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
