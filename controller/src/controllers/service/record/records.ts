import type { ServiceRecord } from "./record.ts";
import { type RecordEvent, fold, transition } from "./transition.ts";

/** Called when the Service with this key must be reconciled after `delayMs`. */
export type WakeListener = (key: string, delayMs: number) => void;

export type RecordReader = Pick<Records, "get" | "list">;

/** The records of all Services, by key. */
export class Records {
  readonly #records = new Map<string, ServiceRecord>();
  readonly #listeners = new Set<WakeListener>();

  get(key: string): ServiceRecord | undefined {
    return this.#records.get(key);
  }

  list(): Iterable<readonly [string, ServiceRecord]> {
    return this.#records;
  }

  /** Applies the events to the current record, which a sweep may have changed since it was read. */
  commit(key: string, ...events: readonly RecordEvent[]): ServiceRecord | undefined {
    for (const event of events) {
      const { record, effects } = transition(this.#records.get(key), event);
      if (record === undefined) this.#records.delete(key);
      else this.#records.set(key, record);
      for (const { delayMs } of effects) for (const listener of this.#listeners) listener(key, delayMs);
    }
    return this.get(key);
  }

  /** Returns a function that removes the listener. */
  onWake(listener: WakeListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** What one reconcile has learned so far, and the record after it. Nothing is committed. */
export class News {
  readonly events: RecordEvent[] = [];
  #record: ServiceRecord | undefined;

  constructor(record: ServiceRecord | undefined) {
    this.#record = record;
  }

  get record(): ServiceRecord | undefined {
    return this.#record;
  }

  add(event: RecordEvent): void {
    const { record } = this;
    this.#record = fold(record, [event]);
    if (this.#record !== record) this.events.push(event);
  }
}
