import type { AskedInstances, Calls, LoggedCall } from "../../api/admin.ts";

interface Counter {
  readonly mutating: boolean;
  calls: number;
  inFlight: number;
  readonly byStatus: Map<number, number>;
}

const keptCalls = 10_000;

/** Counts every call of the API and keeps the last ones. */
export class CallLog {
  #counters = new Map<string, Counter>();
  #last: LoggedCall[] = [];
  #askedMs = new Map<string, number>();

  /** @returns to be called when the call is over */
  begin(operation: string, mutating: boolean): (call: LoggedCall) => void {
    const counter = this.#counters.get(operation) ?? { mutating, calls: 0, inFlight: 0, byStatus: new Map() };
    this.#counters.set(operation, counter);
    counter.calls += 1;
    counter.inFlight += 1;
    return (call) => {
      counter.inFlight -= 1;
      counter.byStatus.set(call.status, (counter.byStatus.get(call.status) ?? 0) + 1);
      this.#last.push(call);
      if (this.#last.length > keptCalls * 2) this.#last = this.#last.slice(-keptCalls);
    };
  }

  calls(): Calls {
    const operations = [...this.#counters].map(([operation, counter]) => ({
      operation,
      mutating: counter.mutating,
      calls: counter.calls,
      inFlight: counter.inFlight,
      byStatus: Object.fromEntries([...counter.byStatus].map(([status, count]) => [String(status), count])),
    }));
    operations.sort((left, right) => left.operation.localeCompare(right.operation));
    const sum = (counted: typeof operations): number => counted.reduce((total, { calls }) => total + calls, 0);
    return { total: sum(operations), mutating: sum(operations.filter(({ mutating }) => mutating)), operations };
  }

  noteAsked(ids: readonly string[], nowMs: number): void {
    for (const id of ids) this.#askedMs.set(id, nowMs);
  }

  asked(): AskedInstances {
    return { askedMs: Object.fromEntries(this.#askedMs) };
  }

  /** Oldest first. */
  last(count: number): LoggedCall[] {
    return this.#last.slice(-Math.min(count, keptCalls));
  }

  reset(): void {
    this.#counters = new Map();
    this.#last = [];
    this.#askedMs = new Map();
  }
}
