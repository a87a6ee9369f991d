/** Works on all items, at most so many at once; the answers are in the items' order. Fails as soon as one does, and begins no more then. */
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
