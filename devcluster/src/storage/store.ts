import { type KubeObject, withMetadata } from "../object.ts";

/** One write as watchers and exact lists see it. */
export interface Change {
  readonly revision: number;
  readonly resource: string;
  /** `namespace/name`, or the name of a cluster-wide object. */
  readonly key: string;
  readonly object: KubeObject | undefined;
  readonly previous: KubeObject | undefined;
}

export interface Entry {
  readonly key: string;
  readonly object: KubeObject;
}

/** The history needed was compacted away. */
export class CompactedError extends Error {
  readonly code = "COMPACTED";
  readonly asked: number;
  readonly oldest: number;

  constructor(asked: number, oldest: number) {
    super(`revision ${asked} was compacted, the oldest kept is ${oldest}`);
    this.asked = asked;
    this.oldest = oldest;
  }
}

/**
 * All objects in memory, every write under one growing revision (as in etcd), and a bounded history of writes from which watches resume and
 * lists of an earlier revision are rebuilt.
 */
export class Store {
  readonly #tables = new Map<string, Table>();
  readonly #listeners = new Map<string, Set<(change: Change) => void>>();
  readonly #historyLimit: number;
  #history: Change[] = [];
  #revision = 1;
  #compacted = 0;

  constructor(options: { readonly historyLimit: number }) {
    this.#historyLimit = options.historyLimit;
  }

  /** Revision of the newest write. */
  get revision(): number {
    return this.#revision;
  }

  /** Watches and exact lists can go back to this revision, not before it. */
  get oldestRevision(): number {
    return this.#compacted;
  }

  get(resource: string, key: string): KubeObject | undefined {
    return this.#tables.get(resource)?.objects.get(key);
  }

  /** Every object of the resource, ordered by key. */
  list(resource: string): readonly Entry[] {
    const table = this.#tables.get(resource);
    if (table === undefined) return [];
    table.sorted ??= sortEntries(table.objects);
    return table.sorted;
  }

  /** The objects as they were at a revision; throws CompactedError when that is too long ago. */
  listAt(resource: string, revision: number): readonly Entry[] {
    if (revision >= this.#revision) return this.list(resource);
    const later = this.changesSince(resource, revision);
    const objects = new Map(this.#tables.get(resource)?.objects);
    for (const change of [...later].reverse()) {
      if (change.previous === undefined) objects.delete(change.key);
      else objects.set(change.key, change.previous);
    }
    return sortEntries(objects);
  }

  /** Creates or replaces the object and returns it with its new resourceVersion. */
  put(resource: string, key: string, object: KubeObject): KubeObject {
    const revision = this.#revision + 1;
    const stored = withMetadata(object, { resourceVersion: `${revision}` });
    const table = this.#table(resource);
    const previous = table.objects.get(key);
    table.objects.set(key, stored);
    table.sorted = undefined;
    this.#record({ revision, resource, key, object: stored, previous });
    return stored;
  }

  /** Removes the object and returns its last state with the resourceVersion of the removal. */
  delete(resource: string, key: string): KubeObject | undefined {
    const table = this.#table(resource);
    const stored = table.objects.get(key);
    if (stored === undefined) return undefined;
    const revision = this.#revision + 1;
    const previous = withMetadata(stored, { resourceVersion: `${revision}` });
    table.objects.delete(key);
    table.sorted = undefined;
    this.#record({ revision, resource, key, object: undefined, previous: stored });
    return previous;
  }

  /** Writes to the resource after a revision; throws CompactedError when that is too long ago. */
  changesSince(resource: string, revision: number): readonly Change[] {
    if (revision < this.#compacted) throw new CompactedError(revision, this.#compacted);
    return this.#history.filter((change) => change.revision > revision && change.resource === resource);
  }

  /** Calls back on every write to the resource until the returned function is called. */
  subscribe(resource: string, listener: (change: Change) => void): () => void {
    const listeners = this.#listeners.get(resource) ?? new Set();
    this.#listeners.set(resource, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Forgets the history up to and including a revision. */
  compact(revision: number): void {
    this.#compacted = Math.max(this.#compacted, Math.min(revision, this.#revision));
    this.#history = this.#history.filter((change) => change.revision > this.#compacted);
  }

  #table(resource: string): Table {
    const existing = this.#tables.get(resource);
    if (existing !== undefined) return existing;
    const table: Table = { objects: new Map(), sorted: undefined };
    this.#tables.set(resource, table);
    return table;
  }

  #record(change: Change): void {
    this.#revision = change.revision;
    this.#history.push(change);
    // Half is dropped at once, so that a write costs the same however long the history is.
    if (this.#history.length > this.#historyLimit) {
      this.compact(this.#revision - Math.floor(this.#historyLimit / 2));
    }
    for (const listener of this.#listeners.get(change.resource) ?? []) listener(change);
  }
}

interface Table {
  readonly objects: Map<string, KubeObject>;
  /** Kept until the next write, since lists by page ask for it many times. */
  sorted: readonly Entry[] | undefined;
}

function sortEntries(objects: ReadonlyMap<string, KubeObject>): readonly Entry[] {
  return [...objects]
    .map(([key, object]) => ({ key, object }))
    .sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0));
}
