import type { ObjectRef } from "@cloudwire/operator-api";
import { flatText } from "../../util/text.ts";

/** Something that happened to an object. */
export interface Noted {
  readonly kind: "reconcile" | "event" | "condition" | "object";
  /** Of a controller; absent: of the cluster. */
  readonly by?: string | undefined;
  readonly reason: string;
  readonly message: string;
  readonly isWarning: boolean;
}

/** The same with its time: the last one of several that were alike. */
export interface Remembered extends Noted {
  /** Wall clock. */
  readonly atMs: number;
  /** How often in a row. */
  readonly count: number;
}

export interface TimelineLimits {
  /** Of one object. */
  readonly perObject: number;
  /** Of all. */
  readonly total: number;
}

/** Some 250 bytes each: 3 MB when all of them are there, and 6 MB when they are failures with long messages. */
const LIMITS: TimelineLimits = { perObject: 30, total: 12_000 };

/** What happened to objects of late, those that are gone among them. In memory; forgets the objects first to which nothing has happened for longest. */
export class Timeline {
  readonly #limits: TimelineLimits;
  /** Oldest first; the object to which something happened last is last. */
  readonly #objects = new Map<ObjectRef, readonly Remembered[]>();
  #total = 0;

  constructor(limits: TimelineLimits = LIMITS) {
    this.#limits = limits;
  }

  note(object: ObjectRef, noted: Noted, nowMs: number): void {
    const before = this.#objects.get(object) ?? [];
    const last = before.at(-1);
    const isAgain = last !== undefined && isAlike(last, noted);
    const { kind, by, reason, isWarning } = noted;
    const message = isAgain ? last.message : flatText(noted.message);
    const one = { kind, by, reason, message, isWarning, atMs: nowMs, count: isAgain ? last.count + 1 : 1 };
    // Arrays of their exact length: one that is pushed to has room for sixteen more.
    const kept = isAgain ? before.slice(0, -1) : before.slice(before.length < this.#limits.perObject ? 0 : 1);
    const all = [...kept, one];
    this.#total += all.length - before.length;
    this.#objects.delete(object);
    this.#objects.set(object, all);
    this.#forget();
  }

  /** Newest first. */
  of(object: ObjectRef): readonly Remembered[] {
    return (this.#objects.get(object) ?? []).toReversed();
  }

  /** All that is remembered. */
  get size(): number {
    return this.#total;
  }

  #forget(): void {
    while (this.#total > this.#limits.total) {
      const [oldest] = this.#objects;
      if (oldest === undefined) return;
      const [object, all] = oldest;
      this.#objects.delete(object);
      this.#total -= all.length;
    }
  }
}

function isAlike(left: Noted, right: Noted): boolean {
  return (
    left.kind === right.kind &&
    left.by === right.by &&
    left.reason === right.reason &&
    left.message === right.message &&
    left.isWarning === right.isWarning
  );
}
