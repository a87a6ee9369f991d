import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { ProviderError, type WatchBookmark, type WatchRequest } from "@cloudwire/provider-sdk";

/** How often a watch says that nothing happens. */
const heartbeatMs = 1_000;
/** How many events are kept for those who come back. */
const maxEvents = 10_000;

/** Which watch of a feed is wanted. */
export interface FeedWatch<Event> {
  readonly request: WatchRequest;
  readonly signal: AbortSignal;
  /** All that there is, at the moment when it is asked for. */
  readonly snapshot: () => readonly Event[];
  /** Whether the watcher may see an event. Default: all. */
  readonly isVisible?: (event: Event) => boolean;
}

/** What happens to the objects of one kind, kept so that a watch can go on where another broke off. */
export class ReferenceFeed<Event extends object> {
  /** Tokens of another process are none of this one. */
  readonly #id = randomBytes(8).toString("hex");
  readonly #events: Event[] = [];
  #dropped = 0;
  #news = Promise.withResolvers<undefined>();

  publish(event: Event): void {
    this.#events.push(event);
    if (this.#events.length > maxEvents) {
      this.#events.shift();
      this.#dropped += 1;
    }
    this.#news.resolve(undefined);
    this.#news = Promise.withResolvers<undefined>();
  }

  async *watch(watch: FeedWatch<Event>): AsyncGenerator<(Event & { readonly token: string }) | WatchBookmark> {
    const { request, signal, snapshot, isVisible = () => true } = watch;
    let place = request.resumeToken === undefined ? this.#end : this.#placeOf(request.resumeToken);
    if (request.sendInitialEvents) for (const event of snapshot()) yield { ...event, token: this.#tokenOf(place) };
    yield { kind: "bookmark", initialEventsEnd: request.sendInitialEvents, token: this.#tokenOf(place) };
    while (true) {
      for (; place < this.#end; place++) {
        const event = this.#events[place - this.#dropped];
        if (event !== undefined && isVisible(event)) yield { ...event, token: this.#tokenOf(place + 1) };
      }
      const quiet = wait(heartbeatMs, "quiet" as const, { signal });
      if ((await Promise.race([this.#news.promise, quiet])) === "quiet")
        yield { kind: "bookmark", token: this.#tokenOf(place) };
    }
  }

  get #end(): number {
    return this.#dropped + this.#events.length;
  }

  #tokenOf(place: number): string {
    return `${this.#id}:${place}`;
  }

  #placeOf(token: string): number {
    const [id, place = ""] = token.split(":");
    if (id !== this.#id || !/^\d{1,15}$/.test(place) || Number(place) < this.#dropped || Number(place) > this.#end)
      throw new ProviderError("RESUME_TOKEN_EXPIRED", "the token is too old, or was never given");
    return Number(place);
  }
}
