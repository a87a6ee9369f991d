/** Works on all items, at most so many at once; the answers are in the items' order. Fails as soon as one does; others may go on till then. */
export async function inParallel<Item, Answer>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  const waiting = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of waiting) answers[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  return answers;
}
