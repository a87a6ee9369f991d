import type { KubeObject } from "../../api/meta.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import type { EventHandler, HandlerOptions } from "./informer-interface.ts";
import type { Lister } from "./lister.ts";

export interface NotifierDependencies<T extends KubeObject> {
  readonly lister: Lister<T>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onHandlerError: () => void;
}

/** Tells handlers about changes, one after the other. A handler that throws hurts nobody else. */
export class Notifier<T extends KubeObject> {
  readonly #deps: NotifierDependencies<T>;
  readonly #handlers = new Map<EventHandler<T>, { timer: Timer | undefined }>();

  constructor(dependencies: NotifierDependencies<T>) {
    this.#deps = dependencies;
  }

  add(handler: EventHandler<T>, { resyncMs }: HandlerOptions): () => void {
    const entry: { timer: Timer | undefined } = { timer: undefined };
    this.#handlers.set(handler, entry);
    const onAdd = handler.onAdd?.bind(handler);
    if (onAdd !== undefined) for (const object of this.#deps.lister.list()) this.#guard(() => onAdd(object, true));
    if (resyncMs !== undefined) this.#scheduleResync(handler, entry, resyncMs);
    return () => {
      entry.timer?.cancel();
      this.#handlers.delete(handler);
    };
  }

  added(object: T, initial: boolean): void {
    for (const handler of this.#handlers.keys()) this.#guard(() => handler.onAdd?.(object, initial));
  }

  updated(old: T, object: T): void {
    for (const handler of this.#handlers.keys()) this.#guard(() => handler.onUpdate?.(old, object));
  }

  deleted(last: T): void {
    for (const handler of this.#handlers.keys()) this.#guard(() => handler.onDelete?.(last));
  }

  /** Ends all resyncs. */
  stop(): void {
    for (const entry of this.#handlers.values()) entry.timer?.cancel();
  }

  #scheduleResync(handler: EventHandler<T>, entry: { timer: Timer | undefined }, resyncMs: number): void {
    entry.timer = this.#deps.clock.schedule(resyncMs, () => {
      for (const object of this.#deps.lister.list()) this.#guard(() => handler.onUpdate?.(object, object));
      this.#scheduleResync(handler, entry, resyncMs);
    });
  }

  #guard(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.#deps.onHandlerError();
      this.#deps.log.error("Event handler failed; the object's change is lost to it until the next one", {
        err: error,
      });
    }
  }
}
