import type { Counter } from "prom-client";
import type { Logger } from "../telemetry/log.ts";
import { sleep } from "../util/abort.ts";
import { Backoff } from "../util/backoff.ts";
import type { Clock, Random } from "../util/clock.ts";
import type { Controller, RunSignals } from "./controller.ts";
import type { LeaseAnnotation } from "./lease-annotation.ts";

export interface ControllersSignals {
  /** Ask to end: work in hand may finish. */
  readonly stop: AbortSignal;
  /** Leadership is lost: everything ends at once. */
  readonly lost: AbortSignal;
  /** How long work in hand may take after `stop`. */
  readonly graceMs: number;
}

/** The enabled controllers, to be run together or in parts. */
export interface Controllers {
  readonly all: readonly SupervisedController[];
  /** What they keep on the Lease that they are led under, by canonical name. */
  readonly leaseAnnotations: ReadonlyMap<string, readonly LeaseAnnotation[]>;
  /** Runs those that `isChosen` until `stop` or `lost` aborts and their work has ended. */
  run(isChosen: (name: string) => boolean, signals: ControllersSignals): Promise<void>;
}

export interface SupervisedControllerDependencies {
  /** Canonical name. */
  readonly name: string;
  /** Makes a fresh instance for each start; undefined: the options leave nothing for it to do. */
  readonly build: () => Controller | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly faults: Counter<"controller">;
}

/** How a controller is. Times are wall clock, in milliseconds. */
export type ControllerState =
  /** Not to run in this process now: another one leads. */
  | { readonly kind: "idle" }
  /** The options leave nothing for it to do. */
  | { readonly kind: "off" }
  | { readonly kind: "running"; readonly sinceMs: number }
  /** It broke, and a fresh one starts at `atMs`. */
  | { readonly kind: "restarting"; readonly atMs: number; readonly error: unknown };

/** What broke a controller as a whole. */
export interface Fault {
  /** Wall clock. */
  readonly atMs: number;
  readonly error: unknown;
}

/** Half of it at random on top: controllers that broke on the same thing come back apart. */
const BACKOFF = { initialMs: 1000, maxMs: 300_000, jitter: 0.5 } as const;

/** One that ran so long is taken to be well: its next fault is a first one. */
const CALM_MS = 600_000;

/**
 * Keeps one controller running whatever becomes of it: one that breaks is thrown away, and after a while a fresh one starts. The other
 * controllers of the process hear nothing of it.
 */
export class SupervisedController {
  readonly #deps: SupervisedControllerDependencies;
  readonly #backoff: Backoff;
  #state: ControllerState = { kind: "idle" };
  #current: Controller | undefined;
  #lastFault: Fault | undefined;

  constructor(dependencies: SupervisedControllerDependencies) {
    this.#deps = dependencies;
    this.#backoff = new Backoff(BACKOFF, dependencies.random);
  }

  get name(): string {
    return this.#deps.name;
  }

  /** What broke it last, however long ago. */
  get lastFault(): Fault | undefined {
    return this.#lastFault;
  }

  get state(): ControllerState {
    return this.#state;
  }

  /** Faults since it last ran calmly. */
  get faults(): number {
    return this.#backoff.failures;
  }

  /** The instance at work; undefined: there is none now. */
  get current(): Controller | undefined {
    return this.#current;
  }

  /** Runs until `stop` aborts and the last reconcile has ended; rejects never. */
  async run(signals: RunSignals): Promise<void> {
    while (!signals.stop.aborted) {
      const delayMs = await this.#runOnce(signals);
      if (delayMs === undefined) break;
      await sleep(delayMs, signals.stop, this.#deps.clock).catch(() => undefined);
    }
    if (this.#state.kind !== "off") this.#state = { kind: "idle" };
  }

  /** One life; answers how long to wait for the next one, undefined: there is to be none. */
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
      if (!signals.stop.aborted) throw new Error("it ended without having been asked to");
      return undefined;
    } catch (error) {
      if (clock.monotonicMs() - startMs >= CALM_MS) this.#backoff.reset();
      return this.#broke(error);
    } finally {
      this.#current = undefined;
    }
  }

  #broke(error: unknown): number {
    const { name, clock, log, faults } = this.#deps;
    const delayMs = this.#backoff.nextMs();
    this.#lastFault = { atMs: clock.nowMs(), error };
    this.#state = { kind: "restarting", atMs: clock.nowMs() + delayMs, error };
    faults.inc({ controller: name });
    log.error("Controller panicked; restarting", {
      controller: name,
      faults: this.#backoff.failures,
      delayMs: Math.round(delayMs),
      err: error,
    });
    return delayMs;
  }
}
