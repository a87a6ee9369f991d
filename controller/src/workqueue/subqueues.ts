import type { Priority } from "../util/semaphore.ts";
import type { LaneSnapshot } from "./queue.ts";

/**
 * Parts of one queue that must not hold each other up, such as the objects of several providers: each has workers of its own, so that
 * keys that wait for a hanging cloud take none from the others.
 */
export interface LaneOptions {
  /** The lane of a key, asked when it gets in line. */
  readonly laneOf: (key: string) => string;
  /** Keys of one lane that are worked on at once. */
  readonly limit: number;
}

/** A key that is to be worked on. */
export interface NextKey {
  readonly key: string;
  readonly priority: Priority;
  /** When it got in line. */
  readonly addedMs: number;
}

/**
 * So many keys of high priority in a row, then one of low: a storm must not starve refreshes for ever. More than calls have in their
 * line (util/semaphore.ts), for a key that waits costs nothing while a call that waits keeps a worker.
 */
const HIGH_IN_A_ROW = 20;

const ONE_LANE: LaneOptions = { laneOf: () => "", limit: Number.POSITIVE_INFINITY };

/** Keys in line, oldest first, with the time of the add. A key is in one of the two at most. */
interface Lane {
  readonly name: string;
  readonly high: Map<string, number>;
  readonly low: Map<string, number>;
  working: number;
}

/** Keys in line for work, lane by lane. Over all lanes what matters more goes first, then what has waited longer. */
export class Lanes {
  readonly #options: LaneOptions;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes of the keys in line and in work. */
  readonly #laneOf = new Map<string, Lane>();
  #size = 0;
  #highInARow = 0;

  constructor(options: LaneOptions = ONE_LANE) {
    this.#options = options;
  }

  /** Keys in line. */
  get size(): number {
    return this.#size;
  }

  /** Name of the lane of a key in line or in work; "" for others. */
  nameOf(key: string): string {
    return this.#laneOf.get(key)?.name ?? "";
  }

  /** Where in line a key is; undefined: it is not. */
  priorityOf(key: string): Priority | undefined {
    const lane = this.#laneOf.get(key);
    if (lane?.high.has(key) === true) return "high";
    return lane?.low.has(key) === true ? "low" : undefined;
  }

  /** Keys of its lane that go before it, but for those of low priority that a storm lets through; undefined: it is not in line. */
  ahead(key: string): number | undefined {
    const priority = this.priorityOf(key);
    const lane = this.#laneOf.get(key);
    if (lane === undefined || priority === undefined) return undefined;
    let ahead = priority === "low" ? lane.high.size : 0;
    for (const other of lane[priority].keys()) {
      if (other === key) break;
      ahead++;
    }
    return ahead;
  }

  /** Puts a key in line that is not in work. One that is there moves up if it matters more now. True: it was not in line. */
  add(key: string, priority: Priority, nowMs: number): boolean {
    const before = this.priorityOf(key);
    const lane = this.#laneOf.get(key) ?? this.#enter(key);
    if (before === "high" || before === priority) return false;
    const addedMs = lane.low.get(key) ?? nowMs;
    lane.low.delete(key);
    lane[priority].set(key, addedMs);
    if (before === undefined) this.#size++;
    return before === undefined;
  }

  /** The next key of a lane that has room; it is in work from now on. */
  take(): NextKey | undefined {
    const open = [...this.#lanes.values()].filter(({ working }) => working < this.#options.limit);
    const high = oldest(open, "high");
    const low = oldest(open, "low");
    const next = low === undefined || (high !== undefined && this.#highInARow < HIGH_IN_A_ROW) ? high : low;
    if (next === undefined) return undefined;
    const { lane, priority, key, addedMs } = next;
    lane[priority].delete(key);
    lane.working++;
    this.#size--;
    this.#highInARow = priority === "high" ? this.#highInARow + 1 : 0;
    return { key, priority, addedMs };
  }

  /** The key is no longer in work. */
  done(key: string): void {
    const lane = this.#laneOf.get(key);
    if (lane === undefined) return;
    this.#laneOf.delete(key);
    lane.working--;
  }

  /** How each lane stands that ever had a key. */
  snapshot(): readonly LaneSnapshot[] {
    return [...this.#lanes.values()].map(({ name, high, low, working }) => ({
      name,
      high: high.size,
      low: low.size,
      working,
    }));
  }

  /** Drops what is in line. */
  clear(): void {
    for (const lane of this.#lanes.values()) {
      for (const key of [...lane.high.keys(), ...lane.low.keys()]) this.#laneOf.delete(key);
      lane.high.clear();
      lane.low.clear();
    }
    this.#size = 0;
  }

  #enter(key: string): Lane {
    const name = this.#options.laneOf(key);
    const lane = this.#lanes.get(name) ?? { name, high: new Map(), low: new Map(), working: 0 };
    this.#lanes.set(name, lane);
    this.#laneOf.set(key, lane);
    return lane;
  }
}

type Head = NextKey & { readonly lane: Lane };

function oldest(lanes: readonly Lane[], priority: Priority): Head | undefined {
  let head: Head | undefined;
  for (const lane of lanes) {
    const [first] = lane[priority];
    if (first === undefined) continue;
    const [key, addedMs] = first;
    if (head === undefined || addedMs < head.addedMs) head = { lane, priority, key, addedMs };
  }
  return head;
}
