import {
  OBJECT_KINDS,
  type ObjectKind,
  type ObjectRef,
  type ObjectRow,
  type Overview,
  type State,
} from "@cloudwire/operator-api";
import type { Logger } from "../../telemetry/log.ts";
import type { Clock, Timer } from "../../util/clock.ts";
import { messageOf } from "../../util/errors.ts";

export interface CachedObjects {
  /** All objects with a row. */
  refs(): Iterable<ObjectRef>;
  /** The current row; undefined: the object does not exist. */
  rowOf(object: ObjectRef): ObjectRow | undefined;
  /** Calls back with objects whose row may have changed; returns a function that stops it. */
  watch(onChange: (object: ObjectRef) => void): () => void;
}

export interface StatusCacheDependencies {
  readonly objects: CachedObjects;
  readonly overview: (counts: Overview["counts"]) => Promise<Overview>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Duration of each slice of work, for tests. */
  readonly onSlice?: (ms: number) => void;
}

/** A row with its JSON, which is used more often than it is made. */
export interface CachedRow {
  readonly row: ObjectRow;
  readonly json: string;
}

/** Changes are collected and sent together. */
export const ROUND_MS = 1000;

/** Longest work without yielding to the event loop. */
const SLICE_MS = 4;

/** Some inputs of a row give no notice of a change, such as the end of a back-off. So each row is remade within this number of rounds. */
const SWEEP_ROUNDS = 5;

/** Rows are kept this long without readers, for clients that poll. */
const LINGER_MS = 15_000;

/** Rows of all objects, kept current while there is a {@link StatusReader}. Without readers it computes and keeps nothing. */
export class StatusCache {
  readonly #deps: StatusCacheDependencies;
  readonly #readers = new Set<StatusReader>();
  #rows = new Map<ObjectRef, CachedRow>();
  #counts = noCounts();
  /** For the next round. */
  #dirty = new Set<ObjectRef>();
  /** For the following rounds, taken from the end. */
  #sweep: ObjectRef[] = [];
  #overview: Overview | undefined;
  /** Resolves when every row exists; undefined: no readers. */
  #complete: PromiseWithResolvers<void> | undefined;
  #unwatch: (() => void) | undefined;
  #timer: Timer | undefined;
  #linger: Timer | undefined;

  constructor(dependencies: StatusCacheDependencies) {
    this.#deps = dependencies;
  }

  /** Of the last round; undefined: not all rows exist yet. */
  get overview(): Overview | undefined {
    return this.#overview;
  }

  row(object: ObjectRef): CachedRow | undefined {
    return this.#rows.get(object);
  }

  rows(): IterableIterator<CachedRow> {
    return this.#rows.values();
  }

  refs(): IterableIterator<ObjectRef> {
    return this.#rows.keys();
  }

  /** `wake` is called after each round, until the reader is closed. */
  open(wake: () => void): StatusReader {
    const reader: StatusReader = new StatusReader(this, wake, () => this.#left(reader));
    this.#readers.add(reader);
    this.#linger?.cancel();
    this.#linger = undefined;
    if (this.#complete === undefined) this.#begin();
    else if (this.#overview !== undefined) reader.begin();
    return reader;
  }

  /** Resolves when every row exists. */
  async look(): Promise<void> {
    const reader = this.open(() => undefined);
    try {
      await this.#complete?.promise;
    } finally {
      reader.close();
    }
  }

  stop(): void {
    for (const timer of [this.#timer, this.#linger]) timer?.cancel();
    this.#unwatch?.();
    this.#complete?.resolve();
    this.#complete = undefined;
    this.#timer = undefined;
    this.#linger = undefined;
    this.#unwatch = undefined;
    this.#overview = undefined;
    this.#rows = new Map();
    this.#counts = noCounts();
    this.#dirty = new Set();
    this.#sweep = [];
  }

  #begin(): void {
    this.#complete = Promise.withResolvers();
    this.#unwatch = this.#deps.objects.watch((object) => this.#dirty.add(object));
    this.#round(new Set(this.#deps.objects.refs()));
  }

  #left(reader: StatusReader): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0 || this.#complete === undefined) return;
    this.#linger = this.#deps.clock.schedule(LINGER_MS, () => this.stop());
  }

  /** Makes these rows in slices. Changes in the meantime wait for the next round, so a row that always changes delays no other. */
  #round(objects: ReadonlySet<ObjectRef>): void {
    this.#dirty = new Set();
    const left = objects.values();
    const round = this.#complete;
    const go = (): void => {
      // Stopped, and perhaps restarted, in the meantime.
      if (round !== this.#complete) return;
      if (this.#slice(left)) setImmediate(go);
      else void this.#settle();
    };
    setImmediate(go);
  }

  /** Returns whether rows remain. */
  #slice(left: Iterator<ObjectRef>): boolean {
    const { clock, onSlice } = this.#deps;
    const startMs = clock.monotonicMs();
    let next = left.next();
    while (next.done !== true) {
      this.#make(next.value);
      if (clock.monotonicMs() - startMs >= SLICE_MS) break;
      next = left.next();
    }
    onSlice?.(clock.monotonicMs() - startMs);
    return next.done !== true;
  }

  #make(object: ObjectRef): void {
    const before = this.#rows.get(object);
    const row = this.#rowOf(object);
    if (row === undefined) {
      if (before === undefined) return;
      this.#rows.delete(object);
    } else {
      const json = JSON.stringify(row);
      if (json === before?.json) return;
      this.#rows.set(object, { row, json });
      this.#counts[kindOf(object)][row.state]++;
    }
    if (before !== undefined) this.#counts[kindOf(object)][before.row.state]--;
    for (const reader of this.#readers) reader.changed(object);
  }

  /** An error here must not end the process. */
  #rowOf(object: ObjectRef): ObjectRow | undefined {
    try {
      return this.#deps.objects.rowOf(object);
    } catch (error) {
      this.#deps.log.error("Could not evaluate object: internal error", { object, err: error });
      const summary = `Its state is unknown because of an internal error: ${messageOf(error)}.`;
      return { object, state: "waiting", reason: "InternalError", summary, provider: "" };
    }
  }

  async #settle(): Promise<void> {
    const round = this.#complete;
    const isFirst = this.#overview === undefined;
    const overview = await this.#overviewNow();
    if (round !== this.#complete) return;
    this.#overview = overview;
    if (isFirst && overview !== undefined) {
      this.#complete?.resolve();
      for (const reader of this.#readers) reader.begin();
    }
    this.#timer = this.#deps.clock.schedule(ROUND_MS, () => this.#round(this.#due()));
    for (const reader of this.#readers) reader.wake();
  }

  /** After an error: the previous one. */
  async #overviewNow(): Promise<Overview | undefined> {
    const { overview, log } = this.#deps;
    try {
      return await overview(structuredClone(this.#counts));
    } catch (error) {
      log.error("Could not build the overview for the status page: internal error", { err: error });
      return this.#overview;
    }
  }

  /** The changed objects, and a share of all others. */
  #due(): ReadonlySet<ObjectRef> {
    // Includes rows whose object no longer exists.
    if (this.#sweep.length === 0) this.#sweep = [...new Set([...this.#rows.keys(), ...this.#deps.objects.refs()])];
    const share = Math.ceil(Math.max(this.#rows.size, this.#sweep.length) / SWEEP_ROUNDS);
    return new Set([...this.#dirty, ...this.#sweep.splice(-share)]);
  }
}

export function kindOf(object: ObjectRef): ObjectKind {
  const kind = object.slice(0, object.indexOf("/"));
  return OBJECT_KINDS.find((known) => known === kind) ?? "provider";
}

type Counts = Record<ObjectKind, Record<State, number>>;

function noCounts(): Counts {
  const none = (): Record<State, number> => ({ ok: 0, progressing: 0, waiting: 0, blocked: 0, unmanaged: 0 });
  return { node: none(), service: none(), route: none(), provider: none() };
}

/** The changes that one reader has not taken yet. It holds only names, so the memory of a slow reader is bounded by the number of objects. */
export class StatusReader {
  readonly #cache: StatusCache;
  readonly #pending = new Set<ObjectRef>();
  #isBegun = false;
  readonly wake: () => void;
  readonly close: () => void;

  constructor(cache: StatusCache, wake: () => void, close: () => void) {
    this.#cache = cache;
    this.wake = wake;
    this.close = close;
  }

  /** Every row exists. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  begin(): void {
    this.#isBegun = true;
    for (const object of this.#cache.refs()) this.#pending.add(object);
  }

  changed(object: ObjectRef): void {
    if (this.#isBegun) this.#pending.add(object);
  }

  /** The current rows of the next changed objects, as JSON; undefined: none are left. */
  take(limit: number): { readonly set: readonly string[]; readonly removed: readonly ObjectRef[] } | undefined {
    if (this.#pending.size === 0) return undefined;
    const set: string[] = [];
    const removed: ObjectRef[] = [];
    for (const object of this.#pending) {
      if (set.length + removed.length === limit) break;
      this.#pending.delete(object);
      const row = this.#cache.row(object);
      if (row === undefined) removed.push(object);
      else set.push(row.json);
    }
    return { set, removed };
  }
}
