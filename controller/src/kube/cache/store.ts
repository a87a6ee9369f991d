import { type KubeObject, keyOf } from "../../api/meta.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import type { EventHandler, HandlerOptions, IndexFunction, Lister } from "./lister.ts";

/** Objects by key, with optional indexes. */
export class Store<T extends KubeObject> implements Lister<T> {
  readonly #objects = new Map<string, T>();
  readonly #indexes: ReadonlyMap<string, Index<T>>;

  constructor(indexes: Readonly<Record<string, IndexFunction<T>>>) {
    this.#indexes = new Map(Object.entries(indexes).map(([name, of]) => [name, new Index(of)]));
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(): IterableIterator<T> {
    return this.#objects.values();
  }

  byIndex(index: string, value: string): readonly T[] {
    const found = this.#indexes.get(index);
    if (found === undefined) throw new Error(`the informer has no index "${index}"`);
    return found.keysOf(value).flatMap((key) => this.#objects.get(key) ?? []);
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  set(object: T): void {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const index of this.#indexes.values()) index.move(key, old, object);
  }

  delete(key: string): void {
    const old = this.#objects.get(key);
    this.#objects.delete(key);
    for (const index of this.#indexes.values()) index.move(key, old, undefined);
  }
}

class Index<T> {
  readonly #valuesOf: IndexFunction<T>;
  readonly #keys = new Map<string, Set<string>>();

  constructor(valuesOf: IndexFunction<T>) {
    this.#valuesOf = valuesOf;
  }

  keysOf(value: string): readonly string[] {
    return [...(this.#keys.get(value) ?? [])];
  }

  move(key: string, old: T | undefined, object: T | undefined): void {
    for (const value of old === undefined ? [] : this.#valuesOf(old)) {
      const keys = this.#keys.get(value);
      keys?.delete(key);
      if (keys?.size === 0) this.#keys.delete(value);
    }
    for (const value of object === undefined ? [] : this.#valuesOf(object)) {
      this.#keys.set(value, (this.#keys.get(value) ?? new Set()).add(key));
    }
  }
}

export interface NotifierDependencies<T extends KubeObject> {
  readonly lister: Lister<T>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onHandlerError: () => void;
}

/** Calls the handlers for each change. An error of one does not affect the others. */
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

  stop(): void {
    for (const entry of this.#handlers.values()) entry.timer?.cancel();
  }

  #scheduleResync(handler: EventHandler<T>, entry: { timer: Timer | undefined }, resyncMs: number): void {
    entry.timer = this.#deps.clock.schedule(resyncMs, () => {
      for (const object of this.#deps.lister.list()) this.#guard(() => handler.onUpdate?.(object, object));
      this.#scheduleResync(handler, entry, resyncMs);
    });
  }

  #guard(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#deps.onHandlerError();
      this.#deps.log.error("Event handler failed; it misses this change of the object", { err: error });
    }
  }
}

/**
 * Objects as this process has just written them, until the cache shows the write. Without them, a reconcile within milliseconds of a write
 * would repeat it.
 */
export class OwnWrites<T extends KubeObject> {
  readonly #written = new Map<string, { readonly object: T; readonly superseded: Set<string> }>();

  /** The server responded to a write based on `before` with `after`. Removal of the last finalizer of a deleted object keeps the version. */
  note(before: T, after: T): void {
    if (before.metadata.uid !== after.metadata.uid) return;
    const key = keyOf(after);
    const earlier = this.#written.get(key);
    const superseded = earlier?.superseded ?? new Set();
    superseded.add(before.metadata.resourceVersion);
    if (earlier !== undefined) superseded.add(earlier.object.metadata.resourceVersion);
    this.#written.set(key, { object: after, superseded });
  }

  /** `cached`, or the later object that this process wrote. Forgets the write once the cache has caught up. */
  latest(cached: T): T {
    const newest = this.newest(cached);
    if (newest === cached) this.#written.delete(keyOf(cached));
    return newest;
  }

  /** `known`, or the later object that this process wrote. */
  newest(known: T): T {
    const written = this.#written.get(keyOf(known));
    return written?.superseded.has(known.metadata.resourceVersion) === true ? written.object : known;
  }

  forget(key: string): void {
    this.#written.delete(key);
  }
}
