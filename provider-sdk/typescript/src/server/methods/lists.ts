import { randomUUID } from "node:crypto";
import type { CallStats } from "@cloudwire/proto/cloudprovider/v1/common";
import type { CallContext } from "../../definition/call-context.ts";
import type { ResumeFrom, Unreachable } from "../../results/results.ts";
import { ProviderError } from "../../results/errors.ts";
import type { RpcCall } from "../rpc/method.ts";
import { ListWalk, type WalkEvent } from "../../state/list-walk.ts";
import { pageTokenInvalid, PageTokens } from "../../state/page-tokens.ts";
import { LruMap } from "../../state/lru.ts";
import { type CallRecorder, forbidsAbsence } from "../../telemetry/call-recorder.ts";
import { iterateWithin } from "../current-context.ts";
import { type ProviderRuntime, recorderFor, type WithContext } from "../runtime.ts";

/** What a list needs. */
export interface PagedListOptions<Friendly, Item, Context> {
  readonly runtime: ProviderRuntime;
  /** Binds tokens: those of one list mean nothing to another. */
  readonly name: string;
  readonly maxPageSize: number;
  /** Opens the provider's list. */
  readonly list: (context: Context) => AsyncIterable<Friendly | Unreachable | ResumeFrom>;
  /** Completes the context of a call for it. */
  readonly contextOf: (context: CallContext) => Context;
  /** Converts one item, or returns how it breaks the contract. */
  readonly convert: (item: Friendly) => Item | ProviderError;
  /** Size of an item as it travels. */
  readonly sizeOf: (item: Item) => number;
}

/** A page, in the words that all list RPCs share. */
export interface ListedPage<Item> {
  readonly items: Item[];
  readonly nextPageToken: string;
  readonly unreachable: string[];
  readonly resumeToken: string;
  readonly complete: boolean;
  readonly stats: CallStats;
}

/** Pages are at most 1 MiB; the rest is for what stands beside the items. */
const maxPageBytes = 900 * 1_024;

/** Tokens are good for at least 10 minutes. Contract: LST-3. */
const walkMaxAgeMs = 660_000;
/** Lists that are being read at once; one controller reads a handful. */
const maxWalks = 64;

interface OpenWalk<Item> {
  readonly walk: ListWalk<Item>;
  readonly recorder: CallRecorder;
  /** The deadline of the page being read, for the provider's context. */
  readonly patience: { deadlineMs: number };
}

/** Serves a list RPC from an async iterable. */
export class PagedList<Friendly extends { readonly kind?: string | undefined }, Item, Context = CallContext> {
  readonly #options: PagedListOptions<Friendly, Item, Context>;
  readonly #tokens = new PageTokens();
  readonly #walks: LruMap<OpenWalk<Item>>;

  constructor(options: PagedListOptions<Friendly, Item, Context>) {
    this.#options = options;
    this.#walks = new LruMap({
      maxEntries: maxWalks,
      maxAgeMs: walkMaxAgeMs,
      nowMs: options.runtime.nowMs,
      evicted: ({ walk }) => walk.close(),
    });
    options.runtime.draining.addEventListener("abort", () => this.#walks.clear(), { once: true });
  }

  async page(
    request: WithContext & { readonly pageSize: number; readonly pageToken: string },
    call: RpcCall,
  ): Promise<ListedPage<Item>> {
    const binding = `${this.#options.name} ${JSON.stringify(request.context)}`;
    const { walkId, offset } =
      request.pageToken === "" ? { walkId: randomUUID(), offset: 0 } : this.#tokens.read(request.pageToken, binding);
    const open = request.pageToken === "" ? this.#open(request, call) : this.#walks.get(walkId);
    if (!open) throw pageTokenInvalid();
    open.patience.deadlineMs = call.deadlineMs;
    const wanted = request.pageSize === 0 ? this.#options.maxPageSize : request.pageSize;
    const bounds = { maxItems: Math.min(wanted, this.#options.maxPageSize), maxBytes: maxPageBytes };
    try {
      const page = await open.walk.page(offset, bounds, call.signal);
      const more = page.nextOffset !== undefined;
      // Setting it again makes it young again: its tokens are good from now on.
      if (more || offset > 0) this.#walks.set(walkId, open);
      const unreachable = [...page.unreachable, ...unreliablePlaces(open.recorder)];
      return {
        items: [...page.items],
        nextPageToken: more ? this.#tokens.sign({ walkId, offset: page.nextOffset }, binding) : "",
        unreachable,
        resumeToken: more ? "" : page.resumeToken,
        complete: !more && unreachable.length === 0,
        stats: open.recorder.takeStats(),
      };
    } catch (error) {
      // The caller's own impatience leaves the walk to its next try.
      if (offset === 0 || !call.signal.aborted) this.#drop(walkId, open);
      throw error;
    }
  }

  #drop(walkId: string, { walk }: OpenWalk<Item>): void {
    this.#walks.delete(walkId);
    walk.close();
  }

  #open(request: WithContext, call: RpcCall): OpenWalk<Item> {
    const { runtime, list, contextOf } = this.#options;
    const patience = { deadlineMs: call.deadlineMs };
    const walkCall: RpcCall = {
      ...call,
      get deadlineMs() {
        return patience.deadlineMs;
      },
    };
    const abort = new AbortController();
    const recorder = recorderFor(runtime, request, walkCall, abort.signal);
    const context = recorder.context();
    const items = iterateWithin(context, () => list(contextOf(context)));
    const walk = new ListWalk<Item>(this.#events(items), abort);
    return { walk, recorder, patience };
  }

  async *#events(items: AsyncIterable<Friendly | Unreachable | ResumeFrom>): AsyncGenerator<WalkEvent<Item>> {
    for await (const item of items) {
      if (isUnreachable(item)) yield { kind: "unreachable", place: item.place };
      else if (isResumeFrom(item)) yield { kind: "resumeFrom", token: item.token };
      else yield this.#convert(item);
    }
  }

  /** One object that breaks the contract must not hide the others, but the list is not complete without it. */
  #convert(item: Friendly): WalkEvent<Item> {
    const { convert, sizeOf, runtime, name } = this.#options;
    const converted = convert(item);
    if (!(converted instanceof ProviderError)) return { kind: "item", item: converted, sizeBytes: sizeOf(converted) };
    runtime.log.error("A list yielded an object that breaks the contract; it is left out", {
      list: name,
      error: converted,
    });
    return { kind: "unreachable", place: `an object that breaks the contract in ${name}` };
  }
}

/** A list that continued after a rejected request or an outage may be incomplete. */
const unreliablePlaces = ({ errors }: CallRecorder): readonly string[] => {
  const error = errors.find(forbidsAbsence);
  return error ? [`what a request that met ${error.reason} would have shown`] : [];
};

const isUnreachable = (item: { readonly kind?: string | undefined }): item is Unreachable =>
  item.kind === "unreachable";
const isResumeFrom = (item: { readonly kind?: string | undefined }): item is ResumeFrom => item.kind === "resumeFrom";
