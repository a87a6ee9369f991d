import { type KubeObject, keyOf } from "../../../src/api/meta.ts";
import type { EventHandler, Informer, Lister } from "../../../src/kube/cache/lister.ts";

/** A cache that a test fills by hand; handlers hear of it at once. */
export class FakeInformer<T extends KubeObject> implements Informer<T> {
  readonly #objects = new Map<string, T>();
  readonly #handlers = new Set<EventHandler<T>>();

  get lister(): Lister<T> {
    const objects = this.#objects;
    return {
      get: (key) => objects.get(key),
      list: () => objects.values(),
      get size() {
        return objects.size;
      },
      byIndex: () => {
        throw new Error("this informer has no index");
      },
    };
  }

  set(object: T): void {
    const key = keyOf(object);
    const old = this.#objects.get(key);
    this.#objects.set(key, object);
    for (const handler of this.#handlers) {
      if (old === undefined) handler.onAdd?.(object, false);
      else handler.onUpdate?.(old, object);
    }
  }

  delete(key: string): void {
    const last = this.#objects.get(key);
    this.#objects.delete(key);
    if (last === undefined) return;
    for (const handler of this.#handlers) handler.onDelete?.(last);
  }

  addHandler(handler: EventHandler<T>): () => void {
    this.#handlers.add(handler);
    for (const object of this.#objects.values()) handler.onAdd?.(object, true);
    return () => void this.#handlers.delete(handler);
  }

  hasSynced(): boolean {
    return true;
  }

  whenSynced(): Promise<void> {
    return Promise.resolve();
  }

  lastFailure(): string | undefined {
    return undefined;
  }

  run(): Promise<void> {
    return Promise.resolve();
  }
}
