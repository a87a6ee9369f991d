import type { Clock, Timer } from "../util/clock.ts";

interface Entry {
  readonly key: string;
  readonly atMs: number;
  /** Left in the heap until its time comes, then ignored: taking it out of the middle would cost more. */
  cancelled: boolean;
}

const COMPACT_SLACK = 1000;

/** Keys that become ready later: a heap by time under one timer, however many keys wait. */
export class Delays {
  readonly #clock: Clock;
  readonly #onReady: (key: string) => void;
  readonly #entries = new Map<string, Entry>();
  readonly #heap: Entry[] = [];
  #timer: Timer | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, onReady: (key: string) => void) {
    this.#clock = clock;
    this.#onReady = onReady;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Milliseconds until the key is ready; undefined when it is not waiting here. */
  leftMs(key: string): number | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined ? undefined : Math.max(0, entry.atMs - this.#clock.monotonicMs());
  }

  /** Each key with the milliseconds until it is ready, in no order. */
  *left(): Iterable<readonly [key: string, leftMs: number]> {
    const nowMs = this.#clock.monotonicMs();
    for (const { key, atMs } of this.#entries.values()) yield [key, Math.max(0, atMs - nowMs)];
  }

  /** Replaces the key's time, whatever it was. */
  set(key: string, delayMs: number): void {
    this.cancel(key);
    const entry: Entry = { key, atMs: this.#clock.monotonicMs() + delayMs, cancelled: false };
    this.#entries.set(key, entry);
    push(this.#heap, entry);
    this.#compact();
    this.#arm();
  }

  cancel(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.cancelled = true;
    this.#entries.delete(key);
  }

  clear(): void {
    this.#timer?.cancel();
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    this.#entries.clear();
    this.#heap.length = 0;
  }

  /** Cancelled entries may be set far in the future: they are thrown out once they are the majority. A sorted array is a heap. */
  #compact(): void {
    if (this.#heap.length <= 2 * this.#entries.size + COMPACT_SLACK) return;
    const live = [...this.#entries.values()].sort((a, b) => a.atMs - b.atMs);
    this.#heap.length = 0;
    for (const entry of live) this.#heap.push(entry);
  }

  #arm(): void {
    const first = this.#heap[0];
    if (first === undefined || first.atMs >= this.#timerAtMs) return;
    this.#timer?.cancel();
    this.#timerAtMs = first.atMs;
    this.#timer = this.#clock.schedule(first.atMs - this.#clock.monotonicMs(), () => this.#fire());
  }

  #fire(): void {
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#clock.monotonicMs();
    for (
      let first = this.#heap[0];
      first !== undefined && (first.cancelled || first.atMs <= nowMs);
      first = this.#heap[0]
    ) {
      pop(this.#heap);
      if (first.cancelled) continue;
      this.#entries.delete(first.key);
      this.#onReady(first.key);
    }
    this.#arm();
  }
}

function push(heap: Entry[], entry: Entry): void {
  let at = heap.length;
  heap.push(entry);
  while (at > 0) {
    const above = (at - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || parent.atMs <= entry.atMs) break;
    heap[at] = parent;
    at = above;
  }
  heap[at] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    const below = earlier(heap, left, left + 1);
    const child = heap[below];
    if (child === undefined || child.atMs >= last.atMs) break;
    heap[at] = child;
    at = below;
  }
  heap[at] = last;
}

function earlier(heap: readonly Entry[], left: number, right: number): number {
  const leftMs = heap[left]?.atMs ?? Number.POSITIVE_INFINITY;
  const rightMs = heap[right]?.atMs ?? Number.POSITIVE_INFINITY;
  return rightMs < leftMs ? right : left;
}
