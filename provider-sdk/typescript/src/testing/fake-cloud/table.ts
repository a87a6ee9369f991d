import type { Clock } from "../../util/clock.ts";
import { FakeCloudError } from "./routes.ts";

/** How a table behaves; a test may change it at any time through {@link FakeTable.configure}. */
export interface TableBehavior {
  /** How long it takes until a read sees a write. Default: 0. */
  readonly staleMs?: number | undefined;
  /** Most objects there may be; a new one above is refused with {@link TableBehavior.quotaStatus}. Default: no limit. */
  readonly quota?: number | undefined;
  /** HTTP status of that refusal. Default: 403. */
  readonly quotaStatus?: number | undefined;
  /** Objects that lists leave out, saying that they are not complete, as when a zone cannot be reached. Default: none. */
  readonly unlisted?: ((id: string) => boolean) | undefined;
}

/** One page of a list. */
export interface TablePage<Item> {
  /** The objects. */
  readonly items: readonly Item[];
  /** Where the next page begins; undefined: this was the last. */
  readonly nextToken: string | undefined;
  /** False: some objects are left out, see {@link TableBehavior.unlisted}. */
  readonly complete: boolean;
}

/** Objects of a fake cloud by their ids. Writes change the truth; reads show it as late and as incomplete as the behavior says. */
export interface FakeTable<Item> {
  /** Makes or replaces an object. Throws {@link FakeCloudError} above the quota. */
  readonly put: (id: string, item: Item) => Item;
  /** Removes an object. False if it did not exist. */
  readonly delete: (id: string) => boolean;
  /** An object as a read shows it. */
  readonly get: (id: string) => Item | undefined;
  /** A page of a list as a read shows it, in the order of the ids. Default: all of it. */
  readonly page: (options?: {
    readonly size?: number | undefined;
    readonly token?: string | undefined;
  }) => TablePage<Item>;
  /** What is really there. */
  readonly contents: () => ReadonlyMap<string, Item>;
  /** Changes the behavior in the points that are given. */
  readonly configure: (behavior: TableBehavior) => void;
}

interface Version<Item> {
  readonly atMs: number;
  /** Undefined: deleted. */
  readonly item: Item | undefined;
}

const defaultQuotaStatus = 403;

/** Makes an empty table. */
export const createTable = <Item>(clock: Pick<Clock, "nowMs">, initial: TableBehavior = {}): FakeTable<Item> => {
  let behavior = initial;
  const versions = new Map<string, Version<Item>[]>();
  const contents = new Map<string, Item>();
  const write = (id: string, item: Item | undefined): void => {
    versions.set(id, [...(versions.get(id) ?? []), { atMs: clock.nowMs(), item }]);
  };
  const read = (id: string): Item | undefined =>
    versions.get(id)?.findLast(({ atMs }) => atMs <= clock.nowMs() - (behavior.staleMs ?? 0))?.item;
  return {
    put: (id, item) => {
      const { quota = Number.POSITIVE_INFINITY, quotaStatus = defaultQuotaStatus } = behavior;
      if (!contents.has(id) && contents.size >= quota)
        throw new FakeCloudError(quotaStatus, { error: `the quota of ${quota} is used up` });
      contents.set(id, item);
      write(id, item);
      return item;
    },
    delete: (id) => {
      if (!contents.delete(id)) return false;
      write(id, undefined);
      return true;
    },
    get: read,
    page: ({ size = Number.POSITIVE_INFINITY, token = "" } = {}) => {
      const seen = [...versions.keys()]
        .toSorted()
        .map((id) => ({ id, item: read(id) }))
        .filter((row): row is { readonly id: string; readonly item: Item & ({} | null) } => row.item !== undefined);
      const { unlisted = () => false } = behavior;
      const listed = seen.filter(({ id }) => !unlisted(id));
      const rest = listed.filter(({ id }) => id > token);
      const rows = rest.slice(0, size);
      return {
        items: rows.map(({ item }) => item),
        nextToken: rows.length < rest.length ? rows.at(-1)?.id : undefined,
        complete: listed.length === seen.length,
      };
    },
    contents: () => contents,
    configure: (changes) => {
      behavior = { ...behavior, ...changes };
    },
  };
};
