/** Values that AWS takes in one filter. */
export const maxFilterValues = 200;

interface Page<Item> {
  readonly items: readonly Item[];
  /** Undefined: this was the last one. */
  readonly next: string | undefined;
}

/** All pages, each asked for when it is needed. */
export async function* readPages<Item>(
  read: (token: string | undefined) => Promise<Page<Item>>,
): AsyncGenerator<readonly Item[]> {
  let token: string | undefined;
  do {
    const page = await read(token);
    yield page.items;
    token = page.next === "" ? undefined : page.next;
  } while (token !== undefined);
}

/** All items of all pages. */
export async function readAll<Item>(read: (token: string | undefined) => Promise<Page<Item>>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const items of readPages(read)) all.push(...items);
  return all;
}
