/** One page of a list, and whether the service says that there is another. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly hasNext: boolean;
}

/**
 * All pages of a list that is continued behind the last item of each. A page that has no items ends the walk, whatever it says of a next one: its
 * last item is what the next one would be asked for with.
 */
export async function* readPages<Item extends { readonly id: string }>(
  read: (marker: string | undefined) => Promise<Page<Item>>,
): AsyncGenerator<readonly Item[]> {
  let marker: string | undefined;
  do {
    const { items, hasNext } = await read(marker);
    yield items;
    marker = hasNext ? items.at(-1)?.id : undefined;
  } while (marker !== undefined);
}

/** All items of all pages, each once: an item may move to the next page while the list is walked. */
export async function readAll<Item extends { readonly id: string }>(
  read: (marker: string | undefined) => Promise<Page<Item>>,
): Promise<readonly Item[]> {
  const all = new Map<string, Item>();
  for await (const items of readPages(read)) for (const item of items) all.set(item.id, item);
  return [...all.values()];
}

/** True: the service lists a link to the next page. */
export function hasNext(links: readonly { readonly rel: string }[] | undefined): boolean {
  return (links ?? []).some(({ rel }) => rel === "next");
}
