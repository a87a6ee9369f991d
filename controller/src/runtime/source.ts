import { type KubeObject, keyOf } from "../api/meta.ts";
import type { Informer } from "../kube/cache/lister.ts";
import type { Providers } from "../provider/providers.ts";
import type { Priority } from "../util/semaphore.ts";
import type { Workqueue } from "../workqueue/queue.ts";

export interface Source {
  readonly name: string;
  /** Starts to add keys. Returns the function that stops it. */
  start(queue: Workqueue): () => void;
  ready(signal: AbortSignal): Promise<void>;
}

export type Change<T> =
  | { readonly kind: "add"; readonly object: T; readonly initial: boolean }
  | { readonly kind: "update"; readonly old: T; readonly object: T }
  | { readonly kind: "delete"; readonly object: T };

export interface InformerSourceOptions<T extends KubeObject> {
  readonly name: string;
  readonly informer: Informer<T>;
  readonly predicate: Predicate<T>;
  /** Keys to reconcile for an object. @default its own key */
  readonly keys?: (object: T) => readonly string[];
  /** @default low for the first list and resyncs, high otherwise */
  readonly priority?: (change: Change<T>) => Priority;
  /** Processes every object again after this time. @default never */
  readonly resyncMs?: number;
}

export function informerSource<T extends KubeObject>(options: InformerSourceOptions<T>): Source {
  const {
    name,
    informer,
    predicate,
    keys = (object) => [keyOf(object)],
    priority = defaultPriority,
    resyncMs,
  } = options;
  return {
    name,
    ready: (signal) => informer.whenSynced(signal),
    start: (queue) => {
      const enqueue = (change: Change<T>): void => {
        for (const key of keys(change.object)) queue.add(key, { priority: priority(change) });
      };
      return informer.addHandler(
        {
          onAdd: (object, initial) => {
            if (predicate.add(object)) enqueue({ kind: "add", object, initial });
          },
          onUpdate: (old, object) => {
            if (predicate.update(old, object)) enqueue({ kind: "update", old, object });
          },
          onDelete: (object) => {
            if (predicate.delete(object)) enqueue({ kind: "delete", object });
          },
        },
        resyncMs === undefined ? {} : { resyncMs },
      );
    },
  };
}

/** Enqueues keys that may have waited for a provider, together when it becomes ready and not each after its back-off. */
export function providerReadySource(
  providers: Pick<Providers, "onReady">,
  enqueue: (queue: Workqueue) => void,
): Source {
  return {
    name: "provider ready",
    ready: () => Promise.resolve(),
    start: (queue) => providers.onReady(() => enqueue(queue)),
  };
}

function defaultPriority(change: Change<KubeObject>): Priority {
  switch (change.kind) {
    case "add":
      return change.initial ? "low" : "high";
    case "update":
      return change.old === change.object ? "low" : "high";
    case "delete":
      return "high";
  }
  return change satisfies never;
}

/** Which changes enqueue keys. Pure functions. */
export interface Predicate<T> {
  /** Also called for every object of the first list. */
  add(object: T): boolean;
  /** Also called with the same object twice on a resync. */
  update(old: T, object: T): boolean;
  delete(last: T): boolean;
}
