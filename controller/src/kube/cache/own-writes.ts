import { type KubeObject, keyOf } from "../../api/meta.ts";

/**
 * What this process has just written and its cache does not show yet. A reconcile that follows a write within milliseconds would
 * otherwise see the object as it was before, and write again.
 */
export class OwnWrites<T extends KubeObject> {
  readonly #written = new Map<string, { readonly object: T; readonly superseded: Set<string> }>();

  /** The server answered a write based on `before` with `after`. One that ends an object, by its last finalizer, leaves the version as it was. */
  note(before: T, after: T): void {
    if (before.metadata.uid !== after.metadata.uid) return;
    const key = keyOf(after);
    const earlier = this.#written.get(key);
    const superseded = earlier?.superseded ?? new Set();
    superseded.add(before.metadata.resourceVersion);
    if (earlier !== undefined) superseded.add(earlier.object.metadata.resourceVersion);
    this.#written.set(key, { object: after, superseded });
  }

  /** `cached`, or what was written over it. Of what the cache has: when that is no longer behind, it is the truth from then on. */
  latest(cached: T): T {
    const newest = this.newest(cached);
    if (newest === cached) this.#written.delete(keyOf(cached));
    return newest;
  }

  /** `known`, or what was written over it, wherever `known` is from. */
  newest(known: T): T {
    const written = this.#written.get(keyOf(known));
    return written?.superseded.has(known.metadata.resourceVersion) === true ? written.object : known;
  }

  /** The object is gone. */
  forget(key: string): void {
    this.#written.delete(key);
  }
}
