import type { CallContext } from "../../definition/call-context.ts";
import type { WatchBookmark, WatchResync } from "../../definition/instances.ts";
import type { WatchRequest } from "../../definition/requests.ts";
import { ProviderError } from "../../results/errors.ts";
import type { RpcCall } from "../rpc/method.ts";
import { orAborted } from "../../util/clock.ts";
import { iterateWithin } from "../current-context.ts";
import { draining, type ProviderRuntime, recorderFor, type WithContext } from "../runtime.ts";

/** A message comes at least every 30 s (contract, WAT-3); this leaves room for a slow path. */
const heartbeatMs = 20_000;

type WatchEvent = { readonly kind: string; readonly token?: string | undefined };

/** What a watch needs. */
export interface WatchOptions<Event extends WatchEvent, Wire> {
  readonly runtime: ProviderRuntime;
  readonly watch: (request: WatchRequest, context: CallContext) => AsyncIterable<Event | WatchBookmark | WatchResync>;
  /** Converts what is no bookmark and no resync. */
  readonly convert: (event: Event, callTime: Date) => Wire;
}

/** The events that all watches share. */
export type CommonEvent =
  | { readonly $case: "bookmark"; readonly value: { readonly initialEventsEnd: boolean } }
  | { readonly $case: "resync"; readonly value: { readonly message: string } };

/**
 * Serves a watch RPC from an async iterable: adds heartbeats, ends with PROVIDER_DRAINING when the provider shuts down and
 * never with OK.
 */
export async function* serveWatch<Event extends WatchEvent, Wire>(
  options: WatchOptions<Event, Wire>,
  request: WithContext & { readonly resumeToken: string; readonly sendInitialEvents: boolean },
  call: RpcCall,
): AsyncGenerator<{ readonly event: Wire | CommonEvent; readonly resumeToken: string }> {
  const { runtime } = options;
  // The provider's work ends with the stream, for whatever reason it ends.
  const ended = new AbortController();
  const signal = AbortSignal.any([call.signal, runtime.draining, ended.signal]);
  const recorder = recorderFor(runtime, request, call, signal);
  const opening: WatchRequest = {
    sendInitialEvents: request.sendInitialEvents,
    ...(request.resumeToken === "" ? {} : { resumeToken: request.resumeToken }),
  };
  const context = recorder.context();
  const iterator = iterateWithin(context, () => options.watch(opening, context));
  let resumeToken = request.resumeToken;
  try {
    let next = iterator.next();
    while (true) {
      const result = await nextOrHeartbeat(next, signal, runtime);
      if (result === heartbeat) {
        yield { event: bookmark(false), resumeToken };
        continue;
      }
      if (result.done) throw feedEnded();
      resumeToken = result.value.token ?? resumeToken;
      yield { event: toWire(result.value, options), resumeToken };
      next = iterator.next();
    }
  } finally {
    ended.abort(new DOMException("The watch has ended", "AbortError"));
    iterator.return?.().then(undefined, () => undefined);
  }
}

const heartbeat = Symbol("heartbeat");

const nextOrHeartbeat = async <Event>(
  next: Promise<IteratorResult<Event>>,
  signal: AbortSignal,
  { draining: drain, clock }: Pick<ProviderRuntime, "draining" | "clock">,
): Promise<IteratorResult<Event> | typeof heartbeat> => {
  const due = Promise.withResolvers<typeof heartbeat>();
  const cancelTimer = clock.after(heartbeatMs, () => due.resolve(heartbeat));
  try {
    return await orAborted(Promise.race([next, due.promise]), signal);
  } catch (error) {
    throw drain.aborted ? draining() : error;
  } finally {
    cancelTimer();
  }
};

const bookmark = (initialEventsEnd: boolean): CommonEvent => ({ $case: "bookmark", value: { initialEventsEnd } });

const isBookmark = (event: { readonly kind: string }): event is WatchBookmark => event.kind === "bookmark";
const isResync = (event: { readonly kind: string }): event is WatchResync => event.kind === "resync";

const toWire = <Event extends WatchEvent, Wire>(
  event: Event | WatchBookmark | WatchResync,
  options: WatchOptions<Event, Wire>,
): Wire | CommonEvent => {
  if (isBookmark(event)) return bookmark(event.initialEventsEnd ?? false);
  if (isResync(event)) return { $case: "resync", value: { message: event.message ?? "" } };
  return options.convert(event, new Date(options.runtime.nowMs()));
};

const feedEnded = (): ProviderError =>
  new ProviderError("CLOUD_UNAVAILABLE", "The provider's feed of changes has ended; watch again", {
    retryAfterMs: 1_000,
  });
