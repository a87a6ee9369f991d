import { type KubeObject, keyOf } from "../../api/meta.ts";
import type { Logger } from "../../telemetry/log.ts";
import { DeadlineError, raceAbort, sleep } from "../../util/abort.ts";
import { Backoff } from "../../util/backoff.ts";
import type { Clock, Random } from "../../util/clock.ts";
import { messageOf, retryAfterMsOf } from "../../util/errors.ts";
import { DecodeError } from "../../util/json.ts";
import type { ListWatcher, WatchEvent } from "../client.ts";
import { isApiError } from "../errors.ts";
import type { EventHandler, HandlerOptions, IndexFunction, Informer, Lister } from "./lister.ts";
import type { InformerMetrics } from "./metrics.ts";
import { Notifier, Store } from "./store.ts";
import type { Resource } from "../resources/codec.ts";

export interface InformerDependencies<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly client: ListWatcher;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: InformerMetrics | undefined;
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /** `stream` requests the list as the start of a watch, and falls back to pages if the server does not support it. @default "stream" */
  readonly listBy?: "stream" | "pages";
}

/** client-go's reflector waits 0.8 s to 30 s, doubled, jitter 1 (tools/cache/reflector.go v0.36.3). */
const BACKOFF = { initialMs: 500, maxMs: 30_000, factor: 2, jitter: 1 } as const;

/** The server ends a watch after a random time in [5, 10) minutes, as in client-go. */
const WATCH_SECONDS = 300;

/** kube-apiserver sends a bookmark about once a minute (storage/cacher/cacher.go v0.36.3): this long without one is a dead connection. */
const IDLE_MS = 180_000;

/** A server that does not support streamed lists may never end the initial events. */
const INITIAL_IDLE_MS = 30_000;

const START_MS = 30_000;

/** A shorter watch without an event counts as failed, so that a server which closes immediately is not called in a loop. */
const SHORT_WATCH_MS = 1000;

/** Rejections in a row before a new list: the server may never reach the resourceVersion (restored etcd). */
const RELIST_AFTER_REJECTIONS = 5;

/** The informer starts with {@link Informer.run}. */
export function createInformer<T extends KubeObject>(dependencies: InformerDependencies<T>): Informer<T> {
  return new CacheInformer(dependencies);
}

class CacheInformer<T extends KubeObject> implements Informer<T> {
  readonly #deps: InformerDependencies<T>;
  readonly #store: Store<T>;
  readonly #notifier: Notifier<T>;
  readonly #backoff: Backoff;
  readonly #synced = Promise.withResolvers<void>();
  #hasSynced = false;
  #failure: string | undefined;
  #streams: boolean;
  /** A streamed list is in progress. */
  #streaming = false;
  /** Failures in a row with a response of the server. */
  #rejections = 0;
  /** Version to watch from; undefined: list first. */
  #resourceVersion: string | undefined;

  constructor(dependencies: InformerDependencies<T>) {
    this.#deps = dependencies;
    this.#store = new Store(dependencies.indexes ?? {});
    this.#streams = dependencies.listBy !== "pages";
    this.#backoff = new Backoff(BACKOFF, dependencies.random);
    const { clock, log, metrics } = dependencies;
    this.#notifier = new Notifier({ lister: this.#store, clock, log, onHandlerError: () => metrics?.handlerFailed() });
    this.#failure = `${this.#plural} not listed yet`;
  }

  get lister(): Lister<T> {
    return this.#store;
  }

  addHandler(handler: EventHandler<T>, options: HandlerOptions = {}): () => void {
    return this.#notifier.add(handler, options);
  }

  hasSynced(): boolean {
    return this.#hasSynced;
  }

  whenSynced(signal: AbortSignal): Promise<void> {
    return raceAbort(this.#synced.promise, signal);
  }

  lastFailure(): string | undefined {
    return this.#failure;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (this.#resourceVersion === undefined && !this.#streams) await this.#listPages(signal);
        await this.#watch(signal);
      } catch (error) {
        if (!signal.aborted) await this.#recover(error, signal);
      }
    }
    this.#notifier.stop();
  }

  get #plural(): string {
    return this.#deps.resource.plural;
  }

  async #listPages(signal: AbortSignal): Promise<void> {
    const { client, resource } = this.#deps;
    const replacement = this.#replacement();
    let next = "";
    do {
      const page = await client.list(resource, { signal, ...(next === "" ? {} : { continue: next }) });
      for (const object of page.items) replacement.add(object);
      next = page.continue;
      if (next === "") replacement.finish(page.resourceVersion, "pages");
    } while (next !== "");
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { client, resource, clock, random } = this.#deps;
    const replacement = this.#resourceVersion === undefined ? this.#replacement() : undefined;
    const startMs = clock.monotonicMs();
    let events = 0;
    const stream = client.watch(resource, {
      signal,
      ...(this.#resourceVersion === undefined ? { initialEvents: true } : { resourceVersion: this.#resourceVersion }),
      timeoutSeconds: Math.floor(WATCH_SECONDS * (1 + random())),
      startTimeoutMs: START_MS,
      initialIdleTimeoutMs: INITIAL_IDLE_MS,
      idleTimeoutMs: IDLE_MS,
    });
    for await (const event of stream) {
      if (event.kind === "opened") {
        this.#opened();
        continue;
      }
      if (this.#resourceVersion === undefined) this.#initial(event, replacement);
      else this.#change(event);
      if (++events > 1) continue;
      this.#backoff.reset();
      this.#rejections = 0;
    }
    if (events === 0 && clock.monotonicMs() - startMs < SHORT_WATCH_MS) {
      throw new Error(`the server closed the watch of ${this.#plural} immediately`);
    }
    if (this.#resourceVersion === undefined)
      throw new Error(`the server closed the streamed list of ${this.#plural} before its end`);
  }

  #opened(): void {
    this.#deps.metrics?.watched();
    if (this.#resourceVersion === undefined) this.#streaming = true;
    else this.#healthy();
  }

  #healthy(): void {
    if (this.#failure !== undefined)
      this.#deps.log.info("Watching", { resource: this.#plural, objects: this.#store.size });
    this.#failure = undefined;
  }

  #initial(event: Change<T>, replacement: Replacement<T> | undefined): void {
    if (event.kind === "deleted") replacement?.remove(event.object);
    else if (event.kind !== "bookmark") replacement?.add(event.object);
    else if (event.initialEventsEnd) replacement?.finish(event.resourceVersion, "stream");
  }

  #change(event: Change<T>): void {
    if (event.kind === "deleted") this.#remove(keyOf(event.object), event.object);
    else if (event.kind !== "bookmark") this.#upsert(event.object);
    this.#resourceVersion = event.kind === "bookmark" ? event.resourceVersion : event.object.metadata.resourceVersion;
    this.#deps.metrics?.objects(this.#store.size);
  }

  /** A list in progress: objects enter the cache as they arrive; the other cached objects are removed at the end. */
  #replacement(): Replacement<T> {
    const seen = new Set<string>();
    return {
      add: (object) => {
        seen.add(keyOf(object));
        this.#upsert(object);
      },
      remove: (object) => {
        seen.delete(keyOf(object));
        this.#remove(keyOf(object), object);
      },
      finish: (resourceVersion, method) => {
        for (const object of this.#store.list()) {
          if (!seen.has(keyOf(object))) this.#remove(keyOf(object), object);
        }
        this.#resourceVersion = resourceVersion;
        this.#deps.metrics?.listed(method);
        this.#deps.metrics?.objects(this.#store.size);
        this.#streaming = false;
        this.#hasSynced = true;
        this.#synced.resolve();
        this.#healthy();
      },
    };
  }

  #upsert(object: T): void {
    const old = this.#store.get(keyOf(object));
    if (old !== undefined && old.metadata.resourceVersion === object.metadata.resourceVersion) return;
    // Deleted and recreated without a watch: two objects, not one that changed.
    const replaced = old !== undefined && old.metadata.uid !== object.metadata.uid;
    if (replaced) this.#remove(keyOf(object), old);
    this.#store.set(object);
    if (old === undefined || replaced) this.#notifier.added(object, !this.#hasSynced);
    else this.#notifier.updated(old, object);
  }

  #remove(key: string, last: T): void {
    if (this.#store.get(key) === undefined) return;
    this.#store.delete(key);
    this.#notifier.deleted(last);
  }

  async #recover(failure: unknown, signal: AbortSignal): Promise<void> {
    const { log, clock, metrics } = this.#deps;
    const listing = this.#resourceVersion === undefined;
    const streaming = this.#streaming;
    this.#streaming = false;
    metrics?.failed(isApiError(failure) ? failure.code : "other");
    if (listing && this.#streams && cannotStream(failure, streaming)) {
      log.debug(2, "The API server does not support streaming lists; listing in pages", {
        resource: this.#plural,
        err: failure,
      });
      this.#streams = false;
      return;
    }
    const delayMs = Math.max(this.#backoff.nextMs(), retryAfterMsOf(failure) ?? 0);
    if (!isUnreachable(failure)) this.#rejections++;
    if (isApiError(failure, "gone") || this.#rejections >= RELIST_AFTER_REJECTIONS) this.#resourceVersion = undefined;
    this.#failure = `cannot ${listing ? "list" : "watch"} ${this.#plural}: ${messageOf(failure)}`;
    log.warn("List or watch failed; retrying", { resource: this.#plural, delayMs: Math.round(delayMs), err: failure });
    await sleep(delayMs, signal, clock).catch(() => undefined);
  }
}

type Change<T> = Exclude<WatchEvent<T>, { readonly kind: "opened" }>;

interface Replacement<T> {
  add(object: T): void;
  remove(object: T): void;
  finish(resourceVersion: string, method: "stream" | "pages"): void;
}

/** Rejected as invalid (the parameter is unknown or its feature gate is off), or accepted and never completed. */
function cannotStream(failure: unknown, streaming: boolean): boolean {
  if (isApiError(failure, "invalid")) return true;
  return streaming && failure instanceof Error && failure.cause instanceof DeadlineError;
}

/** There was no response at all. */
function isUnreachable(failure: unknown): boolean {
  return isApiError(failure) && failure.httpStatus === 0 && !(failure.cause instanceof DecodeError);
}
