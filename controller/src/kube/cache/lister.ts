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
