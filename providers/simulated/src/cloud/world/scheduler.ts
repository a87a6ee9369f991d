import type { Notifier } from "../notifier.ts";
import type { Activation } from "./activation.ts";
import { advanceInstance } from "./instances.ts";
import { forgetOperation } from "./operations.ts";
import type { World } from "./world.ts";

/** How long superseded versions are kept: page tokens and the change feed reach back so far. */
const retentionMs = 900_000;
const pruneEveryMs = 60_000;
/** What failed is still due: without a pause it would be tried without end. */
const afterErrorMs = 1000;

export interface SchedulerOptions {
  readonly world: World;
  readonly notifier: Notifier;
  readonly activation: Activation;
  readonly onError: (error: unknown) => void;
}

/** Carries on what takes time: the moment of each next step is stored with the resource, so a restart loses none. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  #cancelTimer = (): void => undefined;
  #cancelPrune = (): void => undefined;
  #forget: () => void = () => undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#watch();
    this.#plan();
    this.#prune();
  }

  /** Resolves when a step under way is over. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTimer();
    this.#cancelPrune();
    this.#forget();
    await this.#running;
  }

  #watch(): void {
    this.#forget = this.#options.notifier.onNext(() => {
      if (this.#stopped) return;
      this.#watch();
      this.#plan();
    });
  }

  #plan(): void {
    const { world } = this.#options;
    this.#cancelTimer();
    if (this.#stopped || this.#running) return;
    const dueMs = world.store.nextDueMs();
    if (dueMs === undefined) return;
    this.#cancelTimer = world.clock.after(Math.max(0, dueMs - world.clock.now()), () => {
      this.#running = this.#runDue();
    });
  }

  async #runDue(): Promise<void> {
    try {
      await this.#step();
      this.#running = undefined;
      this.#plan();
    } catch (error) {
      this.#running = undefined;
      this.#options.onError(error);
      if (!this.#stopped) this.#cancelTimer = this.#options.world.clock.after(afterErrorMs, () => this.#plan());
    }
  }

  async #step(): Promise<void> {
    const { world, activation } = this.#options;
    const due = world.store.due(world.clock.now());
    world.database.transaction(() => {
      for (const { kind, account, id } of due) {
        if (kind === "instance") advanceInstance(world, account, id);
        if (kind === "operation") forgetOperation(world, account, id);
      }
    });
    const loadBalancers = due.filter(({ kind }) => kind === "loadBalancer");
    await Promise.all(loadBalancers.map(async ({ account, id }) => activation.advance(account, id)));
  }

  #prune(): void {
    const { world } = this.#options;
    world.store.prune(world.clock.now() - retentionMs);
    this.#cancelPrune = world.clock.after(pruneEveryMs, () => {
      this.#prune();
    });
  }
}
