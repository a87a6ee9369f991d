import type { KubeObject } from "../../api/meta.ts";

/** Read-only view of an informer's cache. Objects are shared: never changed, build a patch instead. */
export interface Lister<T extends KubeObject> {
  /** `key` is `namespace/name`, or `name` for cluster-scoped kinds. */
  get(key: string): T | undefined;
  list(): IterableIterator<T>;
  readonly size: number;
  /** Objects for which the index named at the informer's creation gave `value`. Unknown index names throw. */
  byIndex(index: string, value: string): readonly T[];
}

/** Values under which an object is found; an empty list keeps it out of the index. */
export type IndexFunction<T> = (object: T) => readonly string[];

/** Told about each change of the cache, in the order of the server. A throw is logged and counted, and changes nothing else. */
export interface EventHandler<T> {
  /** `initial` marks objects of the first list. */
  onAdd?(object: T, initial: boolean): void;
  /** Also called with the same object twice on a resync, if one was asked for. */
  onUpdate?(old: T, object: T): void;
  /** Last state known. */
  onDelete?(last: T): void;
}

export interface HandlerOptions {
  /** Every object is offered again as an update after about this long. @default never */
  readonly resyncMs?: number;
}

/** A cache of one kind, filled by list and watch, that never gives up. */
export interface Informer<T extends KubeObject> {
  readonly lister: Lister<T>;
  /** A handler added late is first given everything the cache holds. Returns how to take it off again. */
  addHandler(handler: EventHandler<T>, options?: HandlerOptions): () => void;
  /** The first list is in the cache and every handler has been told about it. */
  hasSynced(): boolean;
  /** Resolves when {@link hasSynced}; rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Why the cache is not fresh right now; undefined while it is. For readyz and explain. */
  lastFailure(): string | undefined;
  /** Resolves only after `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}
