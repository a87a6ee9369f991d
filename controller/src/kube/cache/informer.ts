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
  /** `stream` asks for the list as the start of a watch and falls back to pages where the server cannot. @default "stream" */
  readonly listBy?: "stream" | "pages";
}

/** client-go's reflector waits 0.8 s to 30 s, doubled, jitter 1 (tools/cache/reflector.go v0.36.3). */
const BACKOFF = { initialMs: 500, maxMs: 30_000, factor: 2, jitter: 1 } as const;

/** The server ends a watch after a random time in [5, 10) minutes, as client-go asks. */
const WATCH_SECONDS = 300;

/** kube-apiserver sends a bookmark about once a minute (storage/cacher/cacher.go v0.36.3): this long without one is a dead connection. */
const IDLE_MS = 180_000;

/** A server that does not know streamed lists may simply never end the initial events. */
const INITIAL_IDLE_MS = 30_000;

const START_MS = 30_000;

/** A watch that ends sooner without an event counts as failed: a server that closes at once must not be asked in a loop. */
const SHORT_WATCH_MS = 1000;

/** So many refusals in a row of one resourceVersion: it may be one the server will never reach again (restored etcd). */
const RELIST_AFTER_REFUSALS = 5;

/** Makes an informer; {@link Informer.run} starts it. */
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
  /** The server has accepted a streamed list that has not ended yet. */
  #streaming = false;
  /** Failures in a row that were the server's answer, not its absence. */
  #refusals = 0;
  /** Version to watch from; undefined: a list comes first. */
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
      if (event.kind === "opened") this.#opened();
      else if (this.#resourceVersion === undefined) this.#initial(event, replacement);
      else this.#change(event);
      if (event.kind !== "opened" && ++events === 1) this.#progress();
    }
    if (events === 0 && clock.monotonicMs() - startMs < SHORT_WATCH_MS) {
      throw new Error(`the server closed the watch of ${this.#plural} at once`);
    }
    if (this.#resourceVersion === undefined)
      throw new Error(`the server closed the streamed list of ${this.#plural} half-way`);
  }

  #opened(): void {
    this.#deps.metrics?.watched();
    if (this.#resourceVersion === undefined) this.#streaming = true;
    else this.#healthy();
  }

  #progress(): void {
    this.#backoff.reset();
    this.#refusals = 0;
  }

  #healthy(): void {
    if (this.#failure !== undefined)
      this.#deps.log.info("Watching", { resource: this.#plural, objects: this.#store.size });
    this.#failure = undefined;
  }

  #initial(event: WatchEvent<T>, replacement: Replacement<T> | undefined): void {
    switch (event.kind) {
      case "opened":
        return;
      case "added":
      case "modified":
        return replacement?.add(event.object);
      case "deleted":
        return replacement?.remove(event.object);
      case "bookmark":
        if (event.initialEventsEnd) replacement?.finish(event.resourceVersion, "stream");
        return;
      default:
        event satisfies never;
    }
  }

  #change(event: WatchEvent<T>): void {
    switch (event.kind) {
      case "opened":
        return;
      case "added":
      case "modified":
        this.#upsert(event.object);
        this.#resourceVersion = event.object.metadata.resourceVersion;
        break;
      case "deleted":
        this.#remove(keyOf(event.object), event.object);
        this.#resourceVersion = event.object.metadata.resourceVersion;
        break;
      case "bookmark":
        this.#resourceVersion = event.resourceVersion;
        break;
      default:
        event satisfies never;
    }
    this.#deps.metrics?.objects(this.#store.size);
  }

  /** A list in progress: objects enter the cache as they come, what was not seen leaves it at the end. */
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
      finish: (resourceVersion, how) => {
        for (const [key, object] of [...this.#store.list()].map((object) => [keyOf(object), object] as const)) {
          if (!seen.has(key)) this.#remove(key, object);
        }
        this.#resourceVersion = resourceVersion;
        this.#deps.metrics?.listed(how);
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
    // Deleted and made again while nobody watched: two objects, not one that changed.
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
      log.debug(2, "Server does not stream lists; listing in pages", { resource: this.#plural, err: failure });
      this.#streams = false;
      return;
    }
    const delayMs = Math.max(this.#backoff.nextMs(), retryAfterMsOf(failure) ?? 0);
    if (!wasAbsent(failure)) this.#refusals++;
    if (isApiError(failure, "gone") || this.#refusals >= RELIST_AFTER_REFUSALS) this.#resourceVersion = undefined;
    this.#failure = `cannot ${listing ? "list" : "watch"} ${this.#plural}: ${messageOf(failure)}`;
    log.warn("List or watch failed; trying again", {
      resource: this.#plural,
      delayMs: Math.round(delayMs),
      err: failure,
    });
    await sleep(delayMs, signal, clock).catch(() => undefined);
  }
}

interface Replacement<T> {
  add(object: T): void;
  remove(object: T): void;
  finish(resourceVersion: string, how: "stream" | "pages"): void;
}

/** Refused as invalid (the parameter is unknown or its gate is off), or accepted and never brought to an end. */
function cannotStream(failure: unknown, streaming: boolean): boolean {
  if (isApiError(failure, "invalid")) return true;
  return streaming && failure instanceof Error && failure.cause instanceof DeadlineError;
}

/** No answer at all, as opposed to one that says no or cannot be read. */
function wasAbsent(failure: unknown): boolean {
  return isApiError(failure) && failure.httpStatus === 0 && !(failure.cause instanceof DecodeError);
}
