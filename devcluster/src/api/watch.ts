import { type ApiError, expired, tooLargeResourceVersion } from "../api-error.ts";
import type { Clock } from "../clock.ts";
import { type KubeObject, withMetadata } from "../object.ts";
import { type Resource, tableOf } from "../resources/resource.ts";
import { type Change, CompactedError, type Store } from "../storage/store.ts";
import { createPredicate, type Predicate } from "./predicate.ts";
import { type ListOptions, parseResourceVersion } from "./query.ts";

/** One line of a watch. */
export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: KubeObject }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean }
  | { readonly type: "ERROR"; readonly error: ApiError };

export interface WatchSink {
  readonly send: (event: WatchEvent) => void;
  /** The server ends the watch: its time is over or it cannot go on. */
  readonly end: () => void;
}

export interface WatchDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** How often an idle watch learns the current revision. */
  readonly bookmarkIntervalMs: number;
}

/** How long a watch lives that names no time of its own (the real server picks 30 to 60 minutes). */
const defaultTimeoutSeconds = 1800;

/** Starts a watch and returns the function that stops it. Throws ApiError when the request makes no sense. */
export function openWatch(
  deps: WatchDeps,
  resource: Resource,
  namespace: string,
  options: ListOptions,
  sink: WatchSink,
): () => void {
  const predicate = createPredicate(resource, namespace, options);
  const since = options.resourceVersion === "" ? 0 : parseResourceVersion(options.resourceVersion, "other");
  const table = tableOf(resource);
  const fromNow = since === 0 && options.sendInitialEvents === false;
  const withState = since === 0 ? !fromNow : options.sendInitialEvents === true;
  if (withState && since > deps.store.revision) return fail(sink, tooLargeResourceVersion(since, deps.store.revision));
  if (withState) sendState(deps.store, table, predicate, options, sink);
  else if (!fromNow && !sendBacklog(deps.store, table, since, predicate, sink)) return () => undefined;
  const unsubscribe = deps.store.subscribe(table, (change) => {
    if (change.revision > since) sendChange(change, predicate, sink);
  });
  const cancelBookmarks = options.allowWatchBookmarks ? sendBookmarks(deps, sink) : () => undefined;
  const stop = (): void => {
    unsubscribe();
    cancelBookmarks();
    cancelTimeout();
  };
  const cancelTimeout = deps.clock.after((options.timeoutSeconds ?? defaultTimeoutSeconds) * 1000, () => {
    stop();
    sink.end();
  });
  return stop;
}

function fail(sink: WatchSink, error: ApiError): () => void {
  sink.send({ type: "ERROR", error });
  sink.end();
  return () => undefined;
}

function sendState(store: Store, table: string, predicate: Predicate, options: ListOptions, sink: WatchSink): void {
  for (const { object } of store.list(table)) {
    if (predicate.matches(object)) sink.send({ type: "ADDED", object });
  }
  if (options.allowWatchBookmarks) {
    sink.send({ type: "BOOKMARK", resourceVersion: `${store.revision}`, initialEventsEnd: true });
  }
}

/** Sends what happened since a revision; false when that is too long ago. */
function sendBacklog(store: Store, table: string, since: number, predicate: Predicate, sink: WatchSink): boolean {
  try {
    for (const change of store.changesSince(table, since)) sendChange(change, predicate, sink);
    return true;
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    fail(sink, expired(`too old resource version: ${error.asked} (${error.oldest})`));
    return false;
  }
}

function sendChange(change: Change, predicate: Predicate, sink: WatchSink): void {
  const { object, previous, revision } = change;
  const before = previous !== undefined && predicate.matches(previous);
  if (object !== undefined && predicate.matches(object)) {
    sink.send({ type: before ? "MODIFIED" : "ADDED", object });
  } else if (before) {
    // Gone, or gone from this watch's sight: its last visible state under the revision of the change.
    sink.send({ type: "DELETED", object: withMetadata(previous, { resourceVersion: `${revision}` }) });
  }
}

function sendBookmarks(deps: WatchDeps, sink: WatchSink): () => void {
  let cancel = (): void => undefined;
  const schedule = (): void => {
    cancel = deps.clock.after(deps.bookmarkIntervalMs, () => {
      sink.send({ type: "BOOKMARK", resourceVersion: `${deps.store.revision}`, initialEventsEnd: false });
      schedule();
    });
  };
  schedule();
  return () => cancel();
}
