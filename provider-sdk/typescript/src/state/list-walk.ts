import { ProviderError } from "../results/errors.ts";
import { orAborted } from "../util/clock.ts";

/** What a provider's list yields, converted. */
export type WalkEvent<Item> =
  | { readonly kind: "item"; readonly item: Item; readonly sizeBytes: number }
  | { readonly kind: "unreachable"; readonly place: string }
  | { readonly kind: "resumeFrom"; readonly token: string };

/** One page of a walk. */
export interface WalkPage<Item> {
  readonly items: readonly Item[];
  /** Undefined: that was the last page. */
  readonly nextOffset: number | undefined;
  /** Places that could not be read, as far as is known. */
  readonly unreachable: readonly string[];
  readonly resumeToken: string;
}

/** How large a page may be. */
export interface PageBounds {
  readonly maxItems: number;
  readonly maxBytes: number;
}

/**
 * One run of a provider's list. It is read no further than pages ask for, and what was read is kept, so that each page
 * can be asked for again.
 */
export class ListWalk<Item> {
  readonly #iterator: AsyncIterator<WalkEvent<Item>>;
  readonly #abort: AbortController;
  readonly #items: { readonly item: Item; readonly sizeBytes: number }[] = [];
  readonly #unreachable = new Set<string>();
  #resumeToken = "";
  #ended = false;
  #reading: Promise<void> | undefined;

  /** `abort` ends the provider's work when there is no reader left. */
  constructor(events: AsyncIterable<WalkEvent<Item>>, abort: AbortController) {
    this.#abort = abort;
    this.#iterator = events[Symbol.asyncIterator]();
  }

  /** The page at an offset. An aborted wait leaves the walk as it is: the next request for the page goes on with it. */
  async page(offset: number, bounds: PageBounds, signal: AbortSignal): Promise<WalkPage<Item>> {
    const scan = { index: offset, bytes: 0 };
    let end = this.#endOfPage(offset, bounds, scan);
    while (end === undefined) {
      this.#reading ??= this.#readOne().finally(() => {
        this.#reading = undefined;
      });
      await orAborted(this.#reading, signal);
      end = this.#endOfPage(offset, bounds, scan);
    }
    return {
      items: this.#items.slice(offset, end).map(({ item }) => item),
      // An end at the last known item is reported only after the list has ended: one item is read ahead.
      nextOffset: end >= this.#items.length ? undefined : end,
      unreachable: [...this.#unreachable],
      resumeToken: this.#resumeToken,
    };
  }

  /** Ends the provider's work. */
  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#abort.abort(new DOMException("This list has no reader any longer", "AbortError"));
    this.#iterator.return?.().then(undefined, () => undefined);
  }

  /**
   * Where the page ends; undefined while that is unknown. Reads one item ahead, so that no last page is empty. `scan`: how
   * far the page was looked through before.
   */
  #endOfPage(
    offset: number,
    { maxItems, maxBytes }: PageBounds,
    scan: { index: number; bytes: number },
  ): number | undefined {
    for (; scan.index < this.#items.length; scan.index++) {
      scan.bytes += this.#items[scan.index]?.sizeBytes ?? 0;
      const full = scan.index - offset >= maxItems || scan.bytes > maxBytes;
      // A page has at least one item, however large.
      if (full && scan.index > offset) return scan.index;
    }
    return this.#ended ? this.#items.length : undefined;
  }

  async #readOne(): Promise<void> {
    const next = await this.#iterator.next();
    if (next.done) {
      this.#ended = true;
      return;
    }
    const event = next.value;
    switch (event.kind) {
      case "item":
        this.#items.push(event);
        return;
      case "unreachable":
        this.#unreachable.add(event.place);
        return;
      case "resumeFrom":
        this.#resumeToken = event.token;
        return;
      default:
        throw new ProviderError("INVARIANT_BROKEN", `list() yielded ${JSON.stringify(event satisfies never)}`);
    }
  }
}
