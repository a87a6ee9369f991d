import type { Counter } from "prom-client";
import type { Logger } from "../telemetry/log.ts";
import { sleep } from "../util/abort.ts";
import { Backoff } from "../util/backoff.ts";
import type { Clock, Random } from "../util/clock.ts";
import type { Controller, RunSignals } from "./controller.ts";
import type { LeaseAnnotation } from "./lease-annotation.ts";

export interface ControllersSignals {
  readonly stop: AbortSignal;
  /** Leadership is lost: everything is canceled. */
  readonly lost: AbortSignal;
  readonly graceMs: number;
}

export interface Controllers {
  readonly all: readonly SupervisedController[];
  readonly leaseAnnotations: ReadonlyMap<string, readonly LeaseAnnotation[]>;
  /** Runs the chosen ones until `stop` or `lost` aborts and their work has ended. */
  run(isChosen: (name: string) => boolean, signals: ControllersSignals): Promise<void>;
}

export interface SupervisedControllerDependencies {
  readonly name: string;
  /** Creates an instance for each start; undefined: disabled by the options. */
  readonly build: () => Controller | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly panics: Counter<"controller">;
}

/** Times are wall clock, in milliseconds. */
export type ControllerState =
  /** Another process is the leader. */
  | { readonly kind: "idle" }
  | { readonly kind: "off" }
  | { readonly kind: "running"; readonly sinceMs: number }
  | { readonly kind: "restarting"; readonly atMs: number; readonly error: unknown };

export interface ControllerPanic {
  /** Wall clock. */
  readonly atMs: number;
  readonly error: unknown;
}

/** Jitter, so that controllers with the same problem restart at different times. */
const BACKOFF = { initialMs: 1000, maxMs: 300_000, jitter: 0.5 } as const;

/** After running for this long, the next panic counts as the first. */
const HEALTHY_AFTER_MS = 600_000;

/** Runs one controller and restarts it with a new instance after a panic. Other controllers are not affected. */
export class SupervisedController {
  readonly #deps: SupervisedControllerDependencies;
  readonly #backoff: Backoff;
  #state: ControllerState = { kind: "idle" };
  #current: Controller | undefined;
  #lastPanic: ControllerPanic | undefined;

  constructor(dependencies: SupervisedControllerDependencies) {
    this.#deps = dependencies;
    this.#backoff = new Backoff(BACKOFF, dependencies.random);
  }

  get name(): string {
    return this.#deps.name;
  }

  get lastPanic(): ControllerPanic | undefined {
    return this.#lastPanic;
  }

  get state(): ControllerState {
    return this.#state;
  }

  get panics(): number {
    return this.#backoff.failures;
  }

  get current(): Controller | undefined {
    return this.#current;
  }

  /** Runs until `stop` aborts and the last reconcile has ended. Never rejects. */
  async run(signals: RunSignals): Promise<void> {
    while (!signals.stop.aborted) {
      const delayMs = await this.#runOnce(signals);
      if (delayMs === undefined) break;
      await sleep(delayMs, signals.stop, this.#deps.clock).catch(() => undefined);
    }
    if (this.#state.kind !== "off") this.#state = { kind: "idle" };
  }

  /** Runs one instance. Returns the wait until the restart; undefined: no restart. */
  async #runOnce(signals: RunSignals): Promise<number | undefined> {
    const { build, clock } = this.#deps;
    const startMs = clock.monotonicMs();
    try {
      this.#current = build();
      if (this.#current === undefined) {
        this.#state = { kind: "off" };
        return undefined;
      }
      this.#state = { kind: "running", sinceMs: clock.nowMs() };
      await this.#current.run(signals);
      if (!signals.stop.aborted) throw new Error("it ended without a shutdown request");
      return undefined;
    } catch (error) {
      if (clock.monotonicMs() - startMs >= HEALTHY_AFTER_MS) this.#backoff.reset();
      return this.#restartAfter(error);
    } finally {
      this.#current = undefined;
    }
  }

  #restartAfter(error: unknown): number {
    const { name, clock, log, panics } = this.#deps;
    const delayMs = this.#backoff.nextMs();
    this.#lastPanic = { atMs: clock.nowMs(), error };
    this.#state = { kind: "restarting", atMs: clock.nowMs() + delayMs, error };
    panics.inc({ controller: name });
    log.error("Controller panicked; restarting", {
      controller: name,
      panics: this.#backoff.failures,
      delayMs: Math.round(delayMs),
      err: error,
    });
    return delayMs;
  }
}
