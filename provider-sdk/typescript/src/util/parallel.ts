import { orAborted } from "./clock.ts";

/** Parts of at most so many items, in their order, for requests with a limit. */
export function chunksOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

/** Processes all items, at most so many at once; returns the results in the items' order. The first error ends it: no other item starts. */
export async function inParallel<Item, Answer>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  const waiting = inOrder(items);
  const worker = async (): Promise<void> => {
    for (const [index, item] of waiting) answers[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  return answers;
}

/** A generator, for a loop over it that fails ends it for the others, too. */
function* inOrder<Item>(items: readonly Item[]) {
  yield* items.entries();
}

/**
 * Makes one request for all items. If the cloud refuses it because of single items, makes one for each half instead, so that an item's error is only
 * that item's. Returns the results of the requests that succeeded.
 * @param isOfItem true: the request was refused because of some of its items, and none was processed
 * @param refused called for each item that is refused alone
 */
export async function inHalves<Item, Result>(
  items: readonly Item[],
  request: (items: readonly Item[]) => Promise<Result>,
  isOfItem: (error: unknown) => boolean,
  refused: (item: Item, error: unknown) => void = () => undefined,
): Promise<readonly Result[]> {
  const [first] = items;
  if (first === undefined) return [];
  try {
    return [await request(items)];
  } catch (error) {
    if (!isOfItem(error)) throw error;
    if (items.length === 1) {
      refused(first, error);
      return [];
    }
  }
  const results: Result[] = [];
  for (const half of chunksOf(items, Math.ceil(items.length / 2))) {
    results.push(...(await inHalves(half, request, isOfItem, refused)));
  }
  return results;
}

/** Lets so many pieces of work run at once; the others wait in order. */
export class Limit {
  readonly #max: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Runs the work when there is room; gives up waiting when the signal is aborted. */
  async run<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#running < this.#max) {
      this.#running += 1;
      return;
    }
    const turn = Promise.withResolvers<void>();
    this.#waiting.push(turn.resolve);
    try {
      await orAborted(turn.promise, signal);
    } catch (error) {
      const index = this.#waiting.indexOf(turn.resolve);
      if (index >= 0) this.#waiting.splice(index, 1);
      // The turn came at the moment of the abort: hand it on.
      else this.#leave();
      throw error;
    }
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}
