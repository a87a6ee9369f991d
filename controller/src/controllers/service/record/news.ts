import type { ServiceRecord } from "./record.ts";
import { fold, type RecordEvent } from "./transition.ts";

/** What one reconcile has learned so far, and the record with that. Nothing is committed. */
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
