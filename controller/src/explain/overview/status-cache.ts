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

/** What rows are made from. */
export interface CachedObjects {
  /** All that are to have a row. */
  refs(): Iterable<ObjectRef>;
  /** How it stands now; undefined: there is none any more. */
  rowOf(object: ObjectRef): ObjectRow | undefined;
  /** Calls back with what may stand otherwise than before; answers how to end that. */
  watch(onChange: (object: ObjectRef) => void): () => void;
}

export interface StatusCacheDependencies {
  readonly objects: CachedObjects;
  readonly overview: (counts: Overview["counts"]) => Promise<Overview>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told of each piece of work without a pause. @default nobody is */
  readonly onSlice?: (ms: number) => void;
}

/** A row with its text, which is compared, joined and sent more often than it is made. */
export interface CachedRow {
  readonly row: ObjectRow;
  readonly json: string;
}

/** Changes are gathered for so long and told together. */
export const ROUND_MS = 1000;

/** Rows are made for so long without a pause; then it is everybody else's turn. */
const SLICE_MS = 4;

/** Not everything that a row depends on tells of its changes (a back-off that is over, a provider that is slow): each is made anew after so many rounds. */
const SWEEP_ROUNDS = 5;

/** Nobody looks any more: kept so long for whoever looks now and then. */
const LINGER_MS = 15_000;

/**
 * Rows of all objects, kept current for as long as somebody looks; until then nothing is computed and nothing kept. One for all who
 * look, each of whom has a {@link StatusReader}.
 */
export class StatusCache {
  readonly #deps: StatusCacheDependencies;
  readonly #readers = new Set<StatusReader>();
  #rows = new Map<ObjectRef, CachedRow>();
  #counts = noCounts();
  /** To be made in the next round. */
  #dirty = new Set<ObjectRef>();
  /** To be made again in the rounds to come, from its end. */
  #sweep: ObjectRef[] = [];
  #overview: Overview | undefined;
  /** Resolves when every row was made once; undefined: nobody looks. */
  #complete: PromiseWithResolvers<void> | undefined;
  #unwatch: (() => void) | undefined;
  #timer: Timer | undefined;
  #linger: Timer | undefined;

  constructor(dependencies: StatusCacheDependencies) {
    this.#deps = dependencies;
  }

  /** Of the last round; undefined: not all rows were made yet. */
  get overview(): Overview | undefined {
    return this.#overview;
  }

  row(object: ObjectRef): CachedRow | undefined {
    return this.#rows.get(object);
  }

  /** In the order in which they were first seen. */
  rows(): IterableIterator<CachedRow> {
    return this.#rows.values();
  }

  refs(): IterableIterator<ObjectRef> {
    return this.#rows.keys();
  }

  /** Somebody looks, until they close the reader; `wake` is called after each round. */
  open(wake: () => void): StatusReader {
    const reader: StatusReader = new StatusReader(this, wake, () => this.#left(reader));
    this.#readers.add(reader);
    this.#linger?.cancel();
    this.#linger = undefined;
    if (this.#complete === undefined) this.#begin();
    else if (this.#overview !== undefined) reader.begin();
    return reader;
  }

  /** Resolves when every row is there; the next one who comes within some seconds finds them current. */
  async look(): Promise<void> {
    const reader = this.open(() => undefined);
    try {
      await this.#complete?.promise;
    } finally {
      reader.close();
    }
  }

  /** Nobody will look any more. */
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
    // Their handlers may be told of everything at once, which is made anyhow.
    this.#unwatch = this.#deps.objects.watch((object) => this.#dirty.add(object));
    this.#round(new Set(this.#deps.objects.refs()));
  }

  #left(reader: StatusReader): void {
    this.#readers.delete(reader);
    if (this.#readers.size > 0 || this.#complete === undefined) return;
    this.#linger = this.#deps.clock.schedule(LINGER_MS, () => this.stop());
  }

  /** Makes these rows, in slices. What changes meanwhile is for the next round: one that changes always holds up none. */
  #round(objects: ReadonlySet<ObjectRef>): void {
    this.#dirty = new Set();
    const left = objects.values();
    const round = this.#complete;
    const go = (): void => {
      // Stopped, or stopped and begun anew, meanwhile.
      if (round !== this.#complete) return;
      if (this.#slice(left)) setImmediate(go);
      else void this.#settle();
    };
    setImmediate(go);
  }

  /** Answers whether there is more. */
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

  /** A page must not take the process with it. */
  #rowOf(object: ObjectRef): ObjectRow | undefined {
    try {
      return this.#deps.objects.rowOf(object);
    } catch (error) {
      this.#deps.log.error("Could not evaluate object: internal error", { object, err: error });
      const summary = `How it stands cannot be told, by a fault of this program: ${messageOf(error)}.`;
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

  /** The one before where there can be none. */
  async #overviewNow(): Promise<Overview | undefined> {
    const { overview, log } = this.#deps;
    try {
      return await overview(structuredClone(this.#counts));
    } catch (error) {
      log.error("Could not build the overview for the status page: internal error", { err: error });
      return this.#overview;
    }
  }

  /** What has changed, and a share of all others. */
  #due(): ReadonlySet<ObjectRef> {
    // Also those that are no more: nobody may have told of it.
    if (this.#sweep.length === 0) this.#sweep = [...new Set([...this.#rows.keys(), ...this.#deps.objects.refs()])];
    const share = Math.ceil(Math.max(this.#rows.size, this.#sweep.length) / SWEEP_ROUNDS);
    return new Set([...this.#dirty, ...this.#sweep.splice(-share)]);
  }
}

/** What it is of. */
export function kindOf(object: ObjectRef): ObjectKind {
  const kind = object.slice(0, object.indexOf("/"));
  return OBJECT_KINDS.find((known) => known === kind) ?? "provider";
}

type Counts = Record<ObjectKind, Record<State, number>>;

function noCounts(): Counts {
  const none = (): Record<State, number> => ({ ok: 0, progressing: 0, waiting: 0, blocked: 0, unmanaged: 0 });
  return { node: none(), service: none(), route: none(), provider: none() };
}

/** What a reader asks of the rows of all objects. */
export interface ReadableRows {
  refs(): Iterable<ObjectRef>;
  /** undefined: it is gone. */
  row(object: ObjectRef): { readonly json: string } | undefined;
}

/** What one reader has not been told yet: names only, so that one who is slow costs no more than there are objects. */
export class StatusReader {
  readonly #board: ReadableRows;
  readonly #pending = new Set<ObjectRef>();
  #isBegun = false;
  readonly wake: () => void;
  readonly close: () => void;

  constructor(board: ReadableRows, wake: () => void, close: () => void) {
    this.#board = board;
    this.wake = wake;
    this.close = close;
  }

  /** Everything was made once, and there is something to tell. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** Everything is to be told. */
  begin(): void {
    this.#isBegun = true;
    for (const object of this.#board.refs()) this.#pending.add(object);
  }

  /** It stands otherwise than before, or is gone. */
  changed(object: ObjectRef): void {
    if (this.#isBegun) this.#pending.add(object);
  }

  /** The next ones as they are now, as JSON; undefined: all has been told. */
  take(limit: number): { readonly set: readonly string[]; readonly removed: readonly ObjectRef[] } | undefined {
    if (this.#pending.size === 0) return undefined;
    const set: string[] = [];
    const gone: ObjectRef[] = [];
    for (const object of this.#pending) {
      if (set.length + gone.length === limit) break;
      this.#pending.delete(object);
      const row = this.#board.row(object);
      if (row === undefined) gone.push(object);
      else set.push(row.json);
    }
    return { set, removed: gone };
  }
}
