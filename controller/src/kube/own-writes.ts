import { type KubeObject, keyOf } from "../api/meta.ts";

/**
 * What this process has just written and its cache does not show yet. A reconcile that follows a write within milliseconds would
 * otherwise see the object as it was before, and write again.
 */
export class OwnWrites<T extends KubeObject> {
  readonly #written = new Map<string, { readonly object: T; readonly superseded: Set<string> }>();

  /** The server answered a write based on `before` with `after`. */
  note(before: T, after: T): void {
    if (before.metadata.uid !== after.metadata.uid) return;
    if (before.metadata.resourceVersion === after.metadata.resourceVersion) return;
    const key = keyOf(after);
    const earlier = this.#written.get(key);
    const superseded = earlier?.superseded ?? new Set();
    superseded.add(before.metadata.resourceVersion);
    if (earlier !== undefined) superseded.add(earlier.object.metadata.resourceVersion);
    this.#written.set(key, { object: after, superseded });
  }

  /** `cached`, or what was written over it. */
  latest(cached: T): T {
    const key = keyOf(cached);
    const written = this.#written.get(key);
    if (written === undefined) return cached;
    if (written.superseded.has(cached.metadata.resourceVersion)) return written.object;
    this.#written.delete(key);
    return cached;
  }

  /** The object is gone. */
  forget(key: string): void {
    this.#written.delete(key);
  }
}
