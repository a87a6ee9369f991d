import { HealthDefinition } from "@cloudwire/proto/grpc/health/v1/health";
import type { WatchCapability } from "@cloudwire/proto/cloudprovider/v1/identity";
import type { CheckContext, ProfileName } from "../../suite/check.ts";
import { fail } from "../../suite/expect.ts";
import type { CallOptions, OpenStream, StreamEnd } from "../../endpoint/caller.ts";
import { durationMs } from "../../contract/duration.ts";
import { outcomeLine } from "../../endpoint/exchange.ts";
import { property } from "../../contract/field-rules.ts";
import { methodsByName } from "../../contract/methods.ts";

/** A method that streams hints. */
export interface WatchKind {
  readonly prefix: string;
  readonly method: "WatchInstances" | "WatchLoadBalancers";
  readonly profile: ProfileName;
  readonly capability: string;
  readonly claimOf: (context: CheckContext) => WatchCapability | undefined;
  /** What distinguishes objects, of an upsert and of a gone. */
  readonly keyOf: (value: unknown) => unknown;
}

export const instanceWatch: WatchKind = {
  prefix: "watch",
  method: "WatchInstances",
  profile: "instances-watch",
  capability: "instances.watch",
  claimOf: ({ info }) => info.capabilities?.instances?.watch,
  keyOf: (value) => property(value, "providerId"),
};

export const balancerWatch: WatchKind = {
  prefix: "lb.watch",
  method: "WatchLoadBalancers",
  profile: "lb-watch",
  capability: "load_balancers.watch",
  claimOf: ({ info }) => info.capabilities?.loadBalancers?.watch,
  keyOf: (value) => property(property(value, "service"), "uid"),
};

export const watchKinds: readonly WatchKind[] = [instanceWatch, balancerWatch];

/** One message of a watch, of whatever kind. */
export interface Hint {
  /** upsert, gone, bookmark, resync, or none of them. */
  readonly kind: string;
  /** Of which object. */
  readonly key: string;
  readonly value: unknown;
  readonly token: string;
  readonly message: unknown;
}

type NextHint =
  | { readonly kind: "hint"; readonly hint: Hint }
  | { readonly kind: "quiet" }
  | { readonly kind: "ended"; readonly called: StreamEnd };

/** All that there was when a watch began. */
export interface Snapshot {
  /** The objects by their keys. */
  readonly objects: ReadonlyMap<string, unknown>;
  readonly hints: readonly Hint[];
  /** Where to go on. */
  readonly token: string;
  readonly elapsedMs: number;
}

/** The contract lets a provider ask its cloud this long before the first object. */
const firstMs = 30_000;
/** And this is patience between one object and the next. */
const betweenMs = 10_000;

/** A stream of hints under way. What a check cannot go on without, it fails without. */
export class Watch {
  readonly #kind: WatchKind;
  readonly #stream: OpenStream<unknown>;
  readonly #slowFactor: number;

  constructor(kind: WatchKind, stream: OpenStream<unknown>, slowFactor: number) {
    this.#kind = kind;
    this.#stream = stream;
    this.#slowFactor = slowFactor;
  }

  get exchange() {
    return this.#stream.exchange;
  }

  /** What comes next, within a time that the run's slow factor stretches. */
  async next(waitMs: number): Promise<NextHint> {
    const next = await this.#stream.next(waitMs * this.#slowFactor);
    return next.kind === "message" ? { kind: "hint", hint: this.#hintOf(next.message) } : next;
  }

  /** All hints that come within a time. */
  async during(waitMs: number): Promise<{ readonly hints: readonly Hint[]; readonly ended?: StreamEnd }> {
    const hints: Hint[] = [];
    const endMs = performance.now() + waitMs * this.#slowFactor;
    for (let leftMs = 1; leftMs > 0; leftMs = endMs - performance.now()) {
      const next = await this.next(Math.max(0, endMs - performance.now()) / this.#slowFactor);
      if (next.kind === "ended") return { hints, ended: next.called };
      if (next.kind === "hint") hints.push(next.hint);
    }
    return { hints };
  }

  /** The first hint that is wanted, or that the receiver has to list again; undefined: none came in time. */
  async until(waitMs: number, isWanted: (hint: Hint) => boolean): Promise<Hint | undefined> {
    const endMs = performance.now() + waitMs * this.#slowFactor;
    for (let leftMs = 1; leftMs > 0; leftMs = endMs - performance.now()) {
      const next = await this.next(Math.max(0, endMs - performance.now()) / this.#slowFactor);
      if (next.kind === "ended") return this.#failEnded(next.called);
      if (next.kind === "hint" && isWanted(next.hint)) return next.hint;
    }
    return undefined;
  }

  /** Reads until the bookmark that says that all objects have come. */
  async snapshot(patienceMs: number = firstMs): Promise<Snapshot> {
    const snapshot = await this.snapshotOrEnd(patienceMs);
    return "objects" in snapshot ? snapshot : this.#failEnded(snapshot);
  }

  /** The same, for a watch that the provider may end. */
  async snapshotOrEnd(patienceMs: number = firstMs): Promise<Snapshot | StreamEnd> {
    const startMs = performance.now();
    const objects = new Map<string, unknown>();
    const hints: Hint[] = [];
    // Heartbeats are no progress.
    let endMs = startMs + patienceMs * this.#slowFactor;
    for (;;) {
      const next = await this.next(Math.max(0, endMs - performance.now()) / this.#slowFactor);
      if (next.kind === "ended") return next.called;
      if (next.kind === "hint") {
        const { hint } = next;
        hints.push(hint);
        if (hint.kind === "upsert") objects.set(hint.key, hint.value);
        if (hint.kind === "gone") objects.delete(hint.key);
        if (isEndMark(hint)) return { objects, hints, token: hint.token, elapsedMs: performance.now() - startMs };
        if (hint.kind === "upsert") endMs = performance.now() + Math.min(betweenMs, patienceMs) * this.#slowFactor;
      }
      if (performance.now() >= endMs)
        return fail({
          message: "no bookmark says that the initial events are complete",
          expected: "a bookmark with initial_events_end after the last object",
          got: `${objects.size} objects, then nothing else`,
          exchange: this.exchange,
        });
    }
  }

  /** How it ends, of itself. */
  end(waitMs: number): Promise<StreamEnd> {
    return this.#stream.end(waitMs * this.#slowFactor);
  }

  cancel(): void {
    this.#stream.cancel();
  }

  #failEnded(called: StreamEnd): never {
    return fail({
      message: "the stream ends",
      expected: "a stream that goes on",
      got: outcomeLine(called),
      exchange: called.exchange,
    });
  }

  #hintOf(message: unknown): Hint {
    const event = property(message, "event");
    const value = property(event, "value");
    const kind = property(event, "$case");
    const token = property(message, "resumeToken");
    const key = this.#kind.keyOf(value);
    return {
      kind: typeof kind === "string" ? kind : "none",
      key: typeof key === "string" ? key : "",
      value,
      token: typeof token === "string" ? token : "",
      message,
    };
  }
}

/** Whether a hint says that the initial events are complete. */
export const isEndMark = ({ kind, value }: Hint): boolean =>
  kind === "bookmark" && property(value, "initialEventsEnd") === true;

/** How a watch is opened. Default: with initial events, over the connection that all checks share. */
export interface Opening {
  readonly request?: object;
  readonly connection?: CallOptions["connection"];
}

/** Opens a watch, lets `use` read it, and cancels it whatever happens. */
export const withWatch = async <Result>(
  kind: WatchKind,
  context: CheckContext,
  use: (watch: Watch) => Promise<Result>,
  { request = { sendInitialEvents: true }, connection }: Opening = {},
): Promise<Result> => {
  const whole = { context: context.callContext, ...request };
  const stream = context.caller.open(methodsByName[kind.method], whole, connection === undefined ? {} : { connection });
  const watch = new Watch(kind, stream, context.slowFactor);
  try {
    return await use(watch);
  } finally {
    watch.cancel();
  }
};

/** Where a watch may go on, after its snapshot. */
export const tokenOf = (kind: WatchKind, context: CheckContext): Promise<string> =>
  withWatch(kind, context, async (watch) => (await watch.snapshot()).token);

/** How long the hint of a change may take: twice what the provider says; of one that says nothing, a list a minute and a half. */
export const hintMs = (kind: WatchKind, context: CheckContext): number => {
  const expected = kind.claimOf(context)?.expectedLatency;
  return expected === undefined ? 90_000 : (durationMs(expected) ?? 0) * 2 + 5_000;
};

/** How long a stream is looked at that should go on as it is, in the short form and in the long one. */
export const lookMs = ({ long }: CheckContext): number => (long ? 35_000 : 1_500);

/** Objects without when they were read: that is no property of them. */
export const withoutTimes = (value: unknown): string =>
  JSON.stringify(value, (key, item: unknown) => {
    if (key === "readTime" || key === "observeTime" || key === "stats") return undefined;
    return typeof item === "bigint" ? item.toString() : item;
  });

/** Watches the health of a service. */
export const withHealthWatch = async <Result>(
  { caller }: CheckContext,
  service: string,
  use: (next: (waitMs: number) => Promise<string>, stream: OpenStream<{ readonly status: number }>) => Promise<Result>,
): Promise<Result> => {
  const stream = caller.open(HealthDefinition.methods.watch, { service }, { service: HealthDefinition.fullName });
  const next = async (waitMs: number): Promise<string> => {
    const got = await stream.next(waitMs);
    if (got.kind === "message") return servingNames[got.message.status] ?? `status ${got.message.status}`;
    return got.kind === "quiet" ? "nothing" : outcomeLine(got.called);
  };
  try {
    return await use(next, stream);
  } finally {
    stream.cancel();
  }
};

const servingNames: readonly string[] = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];
