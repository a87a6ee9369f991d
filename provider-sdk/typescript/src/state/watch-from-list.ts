import { createHash, randomUUID } from "node:crypto";
import { isUnanswered } from "../cloud/retries.ts";
import type { CallContext } from "../definition/call-context.ts";
import type { Instance, InstanceEvent } from "../definition/instances.ts";
import type { WatchRequest } from "../definition/requests.ts";
import type { LoadBalancer, LoadBalancerEvent } from "../definition/load-balancers.ts";
import { type Absent, absent, type ResumeFrom, type Unreachable } from "../results/results.ts";
import { ProviderError } from "../results/errors.ts";
import { type Clock, pause, systemClock } from "../util/clock.ts";

/** Options of {@link watchFromList}. */
export interface WatchFromListOptions {
  /** Wait between the end of a list and the beginning of the next, in milliseconds, at least 1,000. Default: 60,000. */
  readonly intervalMs?: number | undefined;
  /** Clock. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

type List<Item> = (context: CallContext) => AsyncIterable<Item | Unreachable | ResumeFrom>;
type Watch<Event> = (request: WatchRequest, context: CallContext) => AsyncGenerator<Event>;

const defaultIntervalMs = 60_000;
const minIntervalMs = 1_000;

/** Description of one kind of objects in events. */
interface Kind<Item, Event> {
  readonly upsert: (item: Item) => Event;
  /** The identity of the object, and its event after a deletion. */
  readonly identify: (item: Item) => { readonly key: string; readonly gone: (absence: Absent) => Event };
}

const machines: Kind<Instance, InstanceEvent> = {
  upsert: (instance) => ({ kind: "upsert", instance }),
  identify: ({ id }) => ({ key: id, gone: (absence) => ({ kind: "gone", id, absence }) }),
};

const loadBalancers: Kind<LoadBalancer, LoadBalancerEvent> = {
  upsert: (loadBalancer) => ({ kind: "upsert", loadBalancer }),
  identify: ({ id, service }) => {
    if (service === undefined)
      throw new ProviderError(
        "INVARIANT_BROKEN",
        `the list yielded load balancer ${id} without the Service in its ownership tags`,
      );
    return { key: service.uid, gone: (absence) => ({ kind: "gone", service, id, absence }) };
  },
};

interface Known<Event> {
  readonly digest: string;
  readonly gone: (absence: Absent) => Event;
}

type Common =
  | { readonly kind: "bookmark"; readonly initialEventsEnd: boolean }
  | { readonly kind: "resync"; readonly message: string };

/** The contract requires a token with each event; a watch that starts with it must list first. */
interface Token {
  readonly token: string;
}

const watchList = <Item extends { readonly kind?: string | undefined }, Event extends object>(
  list: List<Item>,
  kind: Kind<Item, Event>,
  { intervalMs = defaultIntervalMs, clock = systemClock }: WatchFromListOptions,
): Watch<(Event | Common) & Token> => {
  async function* changes(request: WatchRequest, context: CallContext): AsyncGenerator<Event | Common> {
    if (request.resumeToken !== undefined)
      throw new ProviderError("RESUME_TOKEN_EXPIRED", "this watch cannot be continued; list, then start a new watch");
    const known = new Map<string, Known<Event>>();
    const walk = (): ListRun<Item, Event> => new ListRun({ list, kind, context, known, clock });
    const first = walk();
    for await (const event of first.changes()) if (request.sendInitialEvents) yield event;
    yield { kind: "bookmark", initialEventsEnd: request.sendInitialEvents };
    // An object that was unreachable is later reported as new; until then the receiver must know that its view is incomplete.
    if (first.gap !== undefined) yield { kind: "resync", message: first.gap };
    while (true) {
      await pause(Math.max(intervalMs, minIntervalMs), context.signal, clock);
      const next = walk();
      try {
        yield* next.changes();
        yield* next.gone();
      } catch (error) {
        context.signal.throwIfAborted();
        context.log.warn("A list for a watch failed; nothing is concluded from it, and it is tried again", { error });
      }
    }
  }
  return async function* watch(request, context) {
    const token = randomUUID();
    for await (const event of changes(request, context)) yield { ...event, token };
  };
};

/**
 * Makes a watch from a list, for clouds without a change feed. It lists repeatedly while a client watches, and yields what is new, changed
 * or deleted.
 *
 * ```ts
 * instances: { get, list, watch: watchFromList.instances(list, { intervalMs: 30_000 }) },
 * ```
 *
 * An object counts as deleted only if a complete list does not contain it. A list that threw, that yielded `unreachable`, or during which a
 * request was rejected or failed, deletes nothing and does not end the watch: it is logged, and the next list catches up.
 *
 * The stream ends with `RESUME_TOKEN_EXPIRED` for every resume token, because nothing is kept beyond the stream, and with the error of the
 * first list.
 */
export const watchFromList = {
  /** For `instances.watch`; instances are identified by `id`. */
  instances: (list: List<Instance>, options: WatchFromListOptions = {}): Watch<InstanceEvent> =>
    watchList(list, machines, options),
  /** For `loadBalancers.watch`; load balancers are identified by the `uid` of their `service`, which the list must yield. */
  loadBalancers: (list: List<LoadBalancer>, options: WatchFromListOptions = {}): Watch<LoadBalancerEvent> =>
    watchList(list, loadBalancers, options),
} as const;

interface ListRunOptions<Item, Event> {
  readonly list: List<Item>;
  readonly kind: Kind<Item, Event>;
  readonly context: CallContext;
  /** State of the receiver; updated as events are yielded. */
  readonly known: Map<string, Known<Event>>;
  readonly clock: Clock;
}

/** One list, compared with the known state. */
class ListRun<Item extends { readonly kind?: string | undefined }, Event> {
  readonly #options: ListRunOptions<Item, Event>;
  readonly #seen = new Set<string>();
  readonly #startTime: Date;
  #gap: string | undefined;

  constructor(options: ListRunOptions<Item, Event>) {
    this.#options = options;
    this.#startTime = new Date(options.clock.nowMs());
  }

  /** What the list could not read; undefined: nothing. */
  get gap(): string | undefined {
    return this.#gap;
  }

  /** Yields new and changed objects. */
  async *changes(): AsyncGenerator<Event> {
    const { list, kind, context, known } = this.#options;
    for await (const item of list(watched(context, (gap) => this.#missed(gap)))) {
      if (isUnreachable(item)) this.#missed(`${item.place} could not be read`);
      if (isUnreachable(item) || isResumeFrom(item)) continue;
      const { key, gone } = kind.identify(item);
      const digest = digestOf(item);
      this.#seen.add(key);
      if (known.get(key)?.digest === digest) continue;
      known.set(key, { digest, gone });
      yield kind.upsert(item);
    }
  }

  /** Yields deleted objects, if the list proves it. Call it only after the list has ended normally. */
  *gone(): Generator<Event> {
    const { known } = this.#options;
    if (this.#gap !== undefined) return;
    for (const [key, { gone }] of known) {
      if (this.#seen.has(key)) continue;
      known.delete(key);
      yield gone(absent("COMPLETE_LIST_MISS", { observeTime: this.#startTime }));
    }
  }

  #missed(gap: string): void {
    this.#gap ??= gap;
  }
}

/** A context that reports each request that was rejected or failed: a list that swallowed such an error is not complete. */
const watched = (context: CallContext, missed: (gap: string) => void): CallContext => {
  const evaluate = (call: Parameters<CallContext["recordCloudCall"]>[0]) => {
    if (isUnanswered(call))
      missed(call.status === undefined ? "a request failed" : `a request met HTTP ${call.status}`);
  };
  return {
    ...context,
    recordCloudCall: (call) => {
      evaluate(call);
      context.recordCloudCall(call);
    },
    fetch: async (input, init) => {
      try {
        const response = await context.fetch(input, init);
        evaluate({ status: response.status });
        return response;
      } catch (error) {
        evaluate({ error });
        throw error;
      }
    },
  };
};

/** A different read time is not a change. */
const digestOf = (item: object): string =>
  createHash("sha256")
    .update(JSON.stringify({ ...item, readTime: undefined }))
    .digest("base64");

const isUnreachable = (item: { readonly kind?: string | undefined }): item is Unreachable =>
  item.kind === "unreachable";
const isResumeFrom = (item: { readonly kind?: string | undefined }): item is ResumeFrom => item.kind === "resumeFrom";
