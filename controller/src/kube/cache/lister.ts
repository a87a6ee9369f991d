import type { KubeObject } from "../../api/meta.ts";

/** Read-only view of an informer's cache. Objects are shared: never changed, build a patch instead. */
export interface Lister<T extends KubeObject> {
  /** `key` is `namespace/name`, or `name` for cluster-scoped kinds. */
  get(key: string): T | undefined;
  list(): IterableIterator<T>;
  readonly size: number;
  /** Objects that the index (named at the informer's creation) maps to `value`. Unknown index names throw. */
  byIndex(index: string, value: string): readonly T[];
}

/** Values under which an object is found; an empty list excludes it. */
export type IndexFunction<T> = (object: T) => readonly string[];

/** Called for each change of the cache, in the order of the server. Errors are logged and counted. */
export interface EventHandler<T> {
  /** `initial` marks objects of the first list. */
  onAdd?(object: T, initial: boolean): void;
  /** A resync passes the same object twice. */
  onUpdate?(old: T, object: T): void;
  /** `last` is the last known state. */
  onDelete?(last: T): void;
}

export interface HandlerOptions {
  /** Interval at which every object is passed again as an update. @default never */
  readonly resyncMs?: number;
}

/** A cache of one kind, filled by list and watch, that retries forever. */
export interface Informer<T extends KubeObject> {
  readonly lister: Lister<T>;
  /** A late handler first gets all cached objects. Returns a function that removes it. */
  addHandler(handler: EventHandler<T>, options?: HandlerOptions): () => void;
  /** The first list is in the cache and was passed to all handlers. */
  hasSynced(): boolean;
  /** Resolves when {@link hasSynced}; rejects with the signal's reason. */
  whenSynced(signal: AbortSignal): Promise<void>;
  /** Why the cache may be stale; undefined: it is current. For readyz and explain. */
  lastFailure(): string | undefined;
  /** Resolves only after `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}
