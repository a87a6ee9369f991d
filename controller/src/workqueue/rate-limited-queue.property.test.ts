import fc from "fast-check";
import { expect, test } from "vitest";
import { FakeClock, settle } from "../../test/support/fake-clock.ts";
import { NO_QUEUE_METRICS } from "./metrics.ts";
import type { Priority } from "../util/semaphore.ts";
import type { WorkItem, Workqueue } from "./queue.ts";
import { DEFAULT_BACKOFF, createWorkqueue, exponentialLimiter } from "./rate-limited-queue.ts";

const KEYS = ["a", "b", "c", "d"] as const;
const WORKERS = 3;

/** One thing that producers, workers or time do. */
type Step =
  | { readonly kind: "add"; readonly key: string; readonly priority: Priority }
  | { readonly kind: "addAfter"; readonly key: string; readonly delayMs: number; readonly priority: Priority }
  | { readonly kind: "addRateLimited"; readonly key: string; readonly priority: Priority }
  | { readonly kind: "forget"; readonly key: string }
  /** A worker that has nothing to do asks for a key. */
  | { readonly kind: "get" }
  /** A worker that waits for one gives up. */
  | { readonly kind: "giveUp"; readonly index: number }
  /** A worker that has one finishes. */
  | { readonly kind: "done"; readonly index: number }
  | { readonly kind: "time"; readonly ms: number }
  | { readonly kind: "shutDown" };

const key = fc.constantFrom(...KEYS);
const priority = fc.constantFrom<Priority>("high", "low");
const delayMs = fc.integer({ min: -1, max: 300 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("add"), key, priority }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("addAfter"), key, delayMs, priority }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("addRateLimited"), key, priority }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("forget"), key }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("get") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("giveUp"), index: fc.nat(WORKERS) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("done"), index: fc.nat(WORKERS) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("time"), ms: fc.integer({ min: 0, max: 200 }) }) },
);
/** Most histories never end. */
const history = fc
  .tuple(fc.array(step, { maxLength: 80, size: "max" }), fc.boolean())
  .map(([steps, ends]): readonly Step[] => (ends ? [...steps, { kind: "shutDown" }, ...steps.slice(-5)] : steps));

/** A key that comes back at its time, of one of the two kinds. */
interface Wake {
  readonly key: string;
  readonly kind: "later" | "retry";
  readonly atMs: number;
}

/** What the interface promises, in the simplest words there are: lists that are searched and sorted. */
class Model {
  readonly high: string[] = [];
  readonly low: string[] = [];
  readonly working: string[] = [];
  readonly again = new Map<string, Priority>();
  readonly failures = new Map<string, number>();
  /** Workers in the order in which they have asked. */
  readonly waiting: number[] = [];
  readonly given: string[] = [];
  /** Of each retry, as answered. */
  readonly delaysMs: number[] = [];
  wakes: readonly Wake[] = [];
  readonly #wakePriority = new Map<string, Priority>();
  nowMs = 0;
  #inARow = 0;
  isOpen = true;

  add(key: string, priority: Priority): void {
    if (!this.isOpen) return;
    if (this.working.includes(key)) {
      this.again.set(key, higher(this.again.get(key), priority));
      return;
    }
    if (this.high.includes(key) || (priority === "low" && this.low.includes(key))) return;
    if (this.low.includes(key)) this.low.splice(this.low.indexOf(key), 1);
    this[priority].push(key);
    this.#serve();
  }

  wake(wake: Wake, priority: Priority): void {
    if (!this.isOpen) return;
    const before = this.wakes.find(({ key, kind }) => key === wake.key && kind === wake.kind);
    this.#wakePriority.set(wake.key, higher(this.#wakePriority.get(wake.key), priority));
    // The earliest of plain wake-ups counts, but the newest of retries.
    if (wake.kind === "later" && before !== undefined && before.atMs <= wake.atMs) return;
    this.wakes = [...this.wakes.filter((other) => other !== before), wake];
  }

  forget(key: string): void {
    this.failures.delete(key);
    this.#drop((wake) => wake.key === key && wake.kind === "retry");
  }

  get(worker: number): void {
    if (!this.isOpen) this.given.push(`${worker} nothing`);
    else this.waiting.push(worker);
    this.#serve();
  }

  giveUp(worker: number): void {
    this.waiting.splice(this.waiting.indexOf(worker), 1);
    this.given.push(`${worker} nothing`);
  }

  done(key: string): void {
    this.working.splice(this.working.indexOf(key), 1);
    const priority = this.again.get(key);
    this.again.delete(key);
    if (priority !== undefined) this.add(key, priority);
  }

  pass(ms: number): void {
    this.nowMs += ms;
    const due = this.wakes.filter(({ atMs }) => atMs <= this.nowMs).toSorted((a, b) => a.atMs - b.atMs);
    for (const wake of due) {
      const priority = this.#wakePriority.get(wake.key) ?? "high";
      this.#drop((other) => other === wake);
      this.add(wake.key, priority);
    }
  }

  shutDown(): void {
    this.isOpen = false;
    this.wakes = [];
    this.high.length = 0;
    this.low.length = 0;
    this.again.clear();
    for (const worker of this.waiting.splice(0)) this.given.push(`${worker} nothing`);
  }

  stateOf(key: string): string {
    if (this.working.includes(key)) return "working";
    if (this.high.includes(key)) return "waiting high";
    if (this.low.includes(key)) return "waiting low";
    const times = this.wakes.filter((wake) => wake.key === key).map(({ atMs }) => atMs - this.nowMs);
    return times.length === 0 ? "unknown" : `delayed ${Math.min(...times).toFixed(3)}`;
  }

  #serve(): void {
    const [worker] = this.waiting;
    const line = this.low.length > 0 && (this.high.length === 0 || this.#inARow >= 20) ? "low" : "high";
    const [key] = this[line];
    if (worker === undefined || key === undefined) return;
    this[line].shift();
    this.waiting.shift();
    this.#inARow = line === "high" ? this.#inARow + 1 : 0;
    this.working.push(key);
    this.given.push(`${worker} ${key} ${line}`);
  }

  #drop(isDropped: (wake: Wake) => boolean): void {
    this.wakes = this.wakes.filter((wake) => !isDropped(wake));
    for (const key of this.#wakePriority.keys()) {
      if (!this.wakes.some((wake) => wake.key === key)) this.#wakePriority.delete(key);
    }
  }
}

function higher(left: Priority | undefined, right: Priority): Priority {
  return left === "high" ? left : right;
}

/** The queue and its model side by side. No two wake-ups fall due at the same moment: their order is unowned promise. */
class Pair {
  readonly model = new Model();
  readonly clock = new FakeClock();
  readonly given: string[] = [];
  readonly delaysMs: number[] = [];
  readonly queue: Workqueue;
  readonly #giveUps = new Map<number, AbortController>();
  #workers = 0;
  #apartMs = 0;

  constructor() {
    const backoff = exponentialLimiter(DEFAULT_BACKOFF);
    const limiter = { ...backoff, delayMs: (key: string) => backoff.delayMs(key) + this.#apart() };
    this.queue = createWorkqueue({ clock: this.clock, limiter, metrics: NO_QUEUE_METRICS });
  }

  async happen(step: Step): Promise<void> {
    const { model, queue } = this;
    switch (step.kind) {
      case "add":
        queue.add(step.key, step);
        return model.add(step.key, step.priority);
      case "addAfter":
        return this.#addAfter(step);
      case "addRateLimited":
        return this.#addRateLimited(step);
      case "forget":
        queue.forget(step.key);
        return model.forget(step.key);
      case "get":
        return this.#get();
      case "giveUp":
        return this.#giveUp(step.index);
      case "done":
        return this.#done(step.index);
      case "time":
        await this.clock.advance(step.ms);
        return model.pass(step.ms);
      case "shutDown":
        queue.shutDown();
        return model.shutDown();
      default:
        return step satisfies never;
    }
  }

  /** Everything that the queue shows, and what it gave to each worker. */
  get seen(): object {
    const { queue, given, delaysMs } = this;
    const states = KEYS.map((key) => {
      const state = queue.state(key);
      if (state.kind === "delayed") return `delayed ${state.inMs.toFixed(3)}`;
      return state.kind === "waiting" ? `waiting ${state.priority}` : state.kind;
    });
    return {
      depth: queue.depth,
      states,
      failures: KEYS.map((key) => queue.failures(key)),
      given,
      delaysMs,
    };
  }

  get wanted(): object {
    const { high, low, failures, given, delaysMs } = this.model;
    return {
      depth: high.length + low.length,
      states: KEYS.map((key) => this.model.stateOf(key)),
      failures: KEYS.map((key) => failures.get(key) ?? 0),
      given,
      delaysMs,
    };
  }

  #addAfter({ key, delayMs, priority }: Step & { readonly kind: "addAfter" }): void {
    const { model, queue } = this;
    if (delayMs <= 0) {
      queue.addAfter(key, delayMs, { priority });
      return model.add(key, priority);
    }
    const apartMs = delayMs + this.#apart();
    queue.addAfter(key, apartMs, { priority });
    return model.wake({ key, kind: "later", atMs: model.nowMs + apartMs }, priority);
  }

  #addRateLimited({ key, priority }: Step & { readonly kind: "addRateLimited" }): void {
    const { model, queue } = this;
    const count = (model.failures.get(key) ?? 0) + 1;
    model.failures.set(key, count);
    const delayMs = queue.addRateLimited(key, { priority });
    this.delaysMs.push(Math.floor(delayMs));
    model.delaysMs.push(Math.min(5 * 2 ** (count - 1), 1_000_000));
    model.wake({ key, kind: "retry", atMs: model.nowMs + delayMs }, priority);
  }

  #get(): void {
    const { model, queue } = this;
    if (model.waiting.length + model.working.length >= WORKERS) return;
    const worker = this.#workers++;
    const giveUp = new AbortController();
    this.#giveUps.set(worker, giveUp);
    void queue.get(giveUp.signal).then((item) => this.given.push(givenText(worker, item)));
    model.get(worker);
  }

  #giveUp(index: number): void {
    const { waiting } = this.model;
    const worker = waiting[index % Math.max(waiting.length, 1)];
    if (worker === undefined) return;
    this.#giveUps.get(worker)?.abort();
    this.model.giveUp(worker);
  }

  #done(index: number): void {
    const { working } = this.model;
    const key = working[index % Math.max(working.length, 1)];
    if (key === undefined) return;
    this.queue.done(key);
    this.model.done(key);
  }

  #apart(): number {
    this.#apartMs += 1 / 1024;
    return this.#apartMs;
  }
}

function givenText(worker: number, item: WorkItem | undefined): string {
  return item === undefined ? `${worker} nothing` : `${worker} ${item.key} ${item.priority}`;
}

test("Workqueue does as its model on any history: each key once in line, with one worker, at its time, by its rank", async () => {
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const pair = new Pair();
      for (const each of steps) {
        await pair.happen(each);
        await settle();
        expect(pair.seen).toEqual(pair.wanted);
      }
      pair.queue.shutDown();
      expect(pair.clock.timers).toBe(0);
    }),
    { numRuns: 500 },
  );
}, 60_000);

test("Workqueue loses no key on any history that does not end: all are worked on when workers go on", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), async (steps) => {
      const pair = new Pair();
      for (const each of steps) await pair.happen(each);
      const { model, queue, clock } = pair;
      const owed = KEYS.filter((key) => model.again.has(key) || !/working|unknown/.test(model.stateOf(key)));
      await settle();
      const before = pair.given.length;
      for (const held of model.working.toReversed())
        await pair.happen({ kind: "done", index: model.working.indexOf(held) });
      for (const _ of model.waiting.toReversed()) await pair.happen({ kind: "giveUp", index: 0 });
      for (let round = 0; round < 30; round++) {
        await pair.happen({ kind: "get" });
        await pair.happen({ kind: "time", ms: 2_000_000 });
        await pair.happen({ kind: "done", index: 0 });
      }
      const worked = pair.given.slice(before).map((text) => text.split(" ")[1] ?? "");
      expect(owed.filter((key) => !worked.includes(key))).toEqual([]);
      expect([queue.depth, clock.timers]).toEqual([0, 0]);
    }),
    { numRuns: 200 },
  );
}, 60_000);
