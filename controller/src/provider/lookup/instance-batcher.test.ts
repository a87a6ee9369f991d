import * as fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { FakeClock, settle } from "../../../test/support/fake-clock.ts";
import { NO_TRACING } from "../../telemetry/tracing.ts";
import type { ReadOptions } from "../model/client.ts";
import { nodeRef } from "../convert/node.ts";
import { contractError } from "../model/errors.ts";
import type { InstanceAnswer, NodeRef } from "../model/instance.ts";
import { InstanceBatcher } from "./instance-batcher.ts";

const MAX_BATCH = 4;

/** One call to the provider and how to answer it. */
interface FakeCall {
  readonly names: readonly string[];
  readonly options: ReadOptions;
  readonly sentAtMs: number;
  /** With data of that age, counted from now. */
  answer(dataAgeMs?: number): void;
  fail(): void;
}

/** A provider that answers when the test says so. */
class FakeFetch {
  readonly calls: FakeCall[] = [];
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  fetch(nodes: readonly NodeRef[], options: ReadOptions): Promise<readonly InstanceAnswer[]> {
    return new Promise((resolve, reject) => {
      this.calls.push({
        names: nodes.map(({ name }) => name),
        options,
        sentAtMs: this.#clock.monotonicMs(),
        answer: (dataAgeMs = 0) => resolve(nodes.map(({ name }) => present(name, this.#clock.nowMs(), dataAgeMs))),
        fail: () => reject(contractError("CLOUD_UNAVAILABLE", "cloud is down")),
      });
    });
  }
}

function present(name: string, nowMs: number, dataAgeMs: number): InstanceAnswer {
  return {
    kind: "present",
    readTimeMs: nowMs - dataAgeMs,
    witness: { provider: "acme", scopeId: "s", bootId: "b", receivedAtMs: nowMs },
    instance: {
      providerId: `acme://${name}`,
      name,
      instanceType: undefined,
      zone: undefined,
      region: undefined,
      addresses: [],
      state: "running",
      stateReason: "",
      labels: {},
      podCidrs: undefined,
      createTimeMs: undefined,
      revision: "",
      warnings: [],
    },
  };
}

const ref = (name: string): NodeRef => nodeRef(node(name), { nodeLabelKeys: [], nodeAnnotationKeys: [] });
const nameOf = (answer: InstanceAnswer): string => (answer.kind === "present" ? answer.instance.name : answer.kind);

let clock: FakeClock;
let provider: FakeFetch;
let batcher: InstanceBatcher;
let caller: AbortController;
let companions: readonly string[];

beforeEach(() => {
  companions = [];
  clock = new FakeClock();
  provider = new FakeFetch(clock);
  caller = new AbortController();
  batcher = createBatcher();
});

function createBatcher(maxBatchSize = MAX_BATCH): InstanceBatcher {
  return new InstanceBatcher({
    clock,
    signal: new AbortController().signal,
    maxBatchSize: () => maxBatchSize,
    companions: () => companions.map(ref),
    fetch: (nodes, options) => provider.fetch(nodes, options),
    tracing: NO_TRACING,
  });
}

function ask(name: string, options: Partial<ReadOptions> = {}): Promise<InstanceAnswer> {
  return batcher.ask(ref(name), { signal: caller.signal, maxDataAgeMs: 30_000, ...options });
}

const sentNames = (): readonly (readonly string[])[] => provider.calls.map(({ names }) => names);

describe("InstanceBatcher", () => {
  test("waits a moment for others and asks once for all", async () => {
    const answers = [ask("a"), ask("b"), ask("c")];
    expect(provider.calls).toEqual([]);
    await clock.advance(20);
    expect(sentNames()).toEqual([["a", "b", "c"]]);
    provider.calls[0]?.answer();
    expect((await Promise.all(answers)).map(nameOf)).toEqual(["a", "b", "c"]);
  });

  test("sends a full batch without waiting", () => {
    for (const name of ["a", "b", "c", "d", "e"]) void ask(name);
    expect(sentNames()).toEqual([["a", "b", "c", "d"]]);
  });

  test("fills the room in an urgent call with those who will ask next, and answers them from memory", async () => {
    companions = ["a", "b", "c", "d", "e"];
    const first = ask("b");
    await clock.advance(20);
    expect(sentNames()).toEqual([["b", "a", "c", "d"]]);
    provider.calls[0]?.answer();
    await first;
    expect(nameOf(await ask("d", { maxDataAgeMs: 1000 }))).toBe("d");
    void ask("e", { maxDataAgeMs: 1000 });
    await clock.advance(20);
    expect(sentNames()).toEqual([["b", "a", "c", "d"], ["e"]]);
  });

  test("adds no caller to a call that only refreshes", async () => {
    companions = ["a", "b"];
    void ask("c", { priority: "low" });
    await clock.advance(20);
    expect(sentNames()).toEqual([["c"]]);
  });

  test("asks for one machine once, whether the question waits or is under way", async () => {
    const waiting = [ask("a"), ask("a")];
    await clock.advance(20);
    const underWay = ask("a");
    await clock.advance(20);
    expect(sentNames()).toEqual([["a"]]);
    provider.calls[0]?.answer();
    expect((await Promise.all([...waiting, underWay])).map(nameOf)).toEqual(["a", "a", "a"]);
  });

  test("answers from memory as long as the data is as fresh as asked", async () => {
    const first = ask("a");
    await clock.advance(20);
    provider.calls[0]?.answer(5000);
    await first;
    await clock.advance(4000);
    expect(nameOf(await ask("a", { maxDataAgeMs: 9000 }))).toBe("a");
    void ask("a", { maxDataAgeMs: 8999 });
    await clock.advance(20);
    expect(sentNames()).toEqual([["a"], ["a"]]);
  });

  test("never answers a question for now from memory or from a call sent before it", async () => {
    const before = ask("a");
    await clock.advance(20);
    const now = ask("a", { maxDataAgeMs: 0 });
    await clock.advance(20);
    expect(sentNames()).toEqual([["a"], ["a"]]);
    expect(provider.calls.map(({ options }) => options.maxDataAgeMs)).toEqual([30_000, 0]);
    provider.calls[1]?.answer();
    expect(nameOf(await now)).toBe("a");
    provider.calls[0]?.answer();
    expect(nameOf(await before)).toBe("a");
  });

  test("reads again for each query without accepted age, however soon after another", async () => {
    const first = ask("a", { maxDataAgeMs: 0 });
    await clock.advance(20);
    const second = ask("a", { maxDataAgeMs: 0 });
    await clock.advance(20);
    expect(sentNames()).toEqual([["a"], ["a"]]);
    for (const call of provider.calls) call.answer();
    await Promise.all([first, second]);
    void ask("a", { maxDataAgeMs: 0 });
    await clock.advance(20);
    expect(sentNames()).toEqual([["a"], ["a"], ["a"]]);
  });

  test("asks again for one who joined a call under way and got older data than wanted", async () => {
    void ask("a", { maxDataAgeMs: 10_000 });
    await clock.advance(20);
    const joined = ask("a", { maxDataAgeMs: 10_000 });
    await clock.advance(1000);
    provider.calls[0]?.answer(11_500);
    await clock.advance(20);
    expect(sentNames()).toEqual([["a"], ["a"]]);
    provider.calls[1]?.answer();
    expect(nameOf(await joined)).toBe("a");
  });

  test("asks for the freshest data that any caller in the batch wants, and with the greatest urgency", async () => {
    void ask("a", { maxDataAgeMs: 300_000, priority: "low" });
    void ask("b", { maxDataAgeMs: 1000, priority: "high" });
    await clock.advance(20);
    expect(provider.calls[0]?.options).toMatchObject({ maxDataAgeMs: 1000, priority: "high" });
  });

  test("keeps few calls under way, and sends what is urgent first when one ends", async () => {
    for (let index = 0; index < 8 * MAX_BATCH; index++) void ask(`first-${index}`);
    for (let index = 0; index < MAX_BATCH; index++) void ask(`low-${index}`, { priority: "low" });
    void ask("urgent");
    await clock.advance(20);
    expect(provider.calls).toHaveLength(8);
    provider.calls[0]?.answer();
    await settle();
    expect(provider.calls[8]?.names).toEqual(["urgent", "low-0", "low-1", "low-2"]);
  });

  test("a caller that gives up withdraws its own query and no other", async () => {
    const own = new AbortController();
    const given = ask("a", { signal: own.signal });
    const shared = ask("b", { signal: own.signal });
    const other = ask("b");
    own.abort(new Error("no longer wanted"));
    await expect(given).rejects.toThrow("no longer wanted");
    await expect(shared).rejects.toThrow("no longer wanted");
    await clock.advance(20);
    expect(sentNames()).toEqual([["b"]]);
    provider.calls[0]?.answer();
    expect(nameOf(await other)).toBe("b");
  });

  test("a call that fails is unknown for all in it, and is not remembered", async () => {
    const answers = [ask("a"), ask("b")];
    await clock.advance(20);
    provider.calls[0]?.fail();
    expect((await Promise.all(answers)).map(nameOf)).toEqual(["unknown", "unknown"]);
    void ask("a");
    await clock.advance(20);
    expect(sentNames()).toEqual([["a", "b"], ["a"]]);
  });

  test.each<Partial<NodeRef>>([
    { uid: "another" },
    { providerId: "acme://a" },
    { labels: { "acme.com/pool": "b" } },
    { annotations: { "acme.com/machine": "b" } },
  ])("takes a node that is known by something else than before for another one: %j", async (other) => {
    const first = ask("a");
    await clock.advance(20);
    provider.calls[0]?.answer();
    await first;
    void batcher.ask({ ...ref("a"), ...other }, { signal: caller.signal, maxDataAgeMs: 30_000 });
    await clock.advance(20);
    expect(provider.calls).toHaveLength(2);
  });

  test("leaves no timer and no listener behind", async () => {
    const answer = ask("a");
    await clock.advance(20);
    provider.calls[0]?.answer();
    await answer;
    await clock.advance(10_000);
    expect(clock.timers).toBe(0);
  });
});

type Step =
  | { readonly kind: "ask"; readonly name: string; readonly maxDataAgeMs: number; readonly urgent: boolean }
  | { readonly kind: "giveUp"; readonly index: number }
  | { readonly kind: "wait"; readonly ms: number }
  /** An honest provider's data is at most as old as the call allowed: read "new" now, or "old" that long before the call. */
  | { readonly kind: "answer"; readonly index: number; readonly outcome: "fails" | "new" | "old" };

const NAMES = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"] as const;

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("ask" as const),
    name: fc.constantFrom(...NAMES),
    maxDataAgeMs: fc.constantFrom(0, 5, 50, 30_000),
    urgent: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("giveUp" as const), index: fc.nat(30) }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(40) }),
  fc.record({
    kind: fc.constant("answer" as const),
    index: fc.nat(10),
    outcome: fc.constantFrom("fails", "new", "old"),
  }),
);

interface Asked {
  readonly name: string;
  readonly askedAtMs: number;
  readonly maxDataAgeMs: number;
  readonly control: AbortController;
  outcome: InstanceAnswer | "rejected" | undefined;
}

test("InstanceBatcher answers every question freshly, once, in small enough calls, whatever the order of events", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: MAX_BATCH }),
      fc.array(step, { maxLength: 80, size: "max" }),
      fc.subarray([...NAMES]),
      async (maxBatch, steps, waitingNext) => {
        companions = waitingNext;
        clock = new FakeClock();
        provider = new FakeFetch(clock);
        batcher = createBatcher(maxBatch);
        const asked: Asked[] = [];
        const open = new Set<FakeCall>();
        let seen = 0;
        const reply = async (index: number, outcome: "fails" | "new" | "old"): Promise<void> => {
          for (const call of provider.calls.slice(seen)) open.add(call);
          seen = provider.calls.length;
          const call = [...open][index % Math.max(1, open.size)];
          if (call === undefined) return;
          open.delete(call);
          if (outcome === "fails") call.fail();
          else call.answer(outcome === "new" ? 0 : clock.monotonicMs() - call.sentAtMs + call.options.maxDataAgeMs);
          await settle();
        };
        for (const now of steps) {
          switch (now.kind) {
            case "ask": {
              const { name, maxDataAgeMs, urgent } = now;
              const control = new AbortController();
              const one: Asked = { name, askedAtMs: clock.monotonicMs(), maxDataAgeMs, control, outcome: undefined };
              asked.push(one);
              ask(name, { signal: control.signal, maxDataAgeMs, priority: urgent ? "high" : "low" }).then(
                (answer) => (one.outcome = answer),
                () => (one.outcome = "rejected"),
              );
              await settle();
              break;
            }
            case "giveUp":
              asked[now.index % Math.max(1, asked.length)]?.control.abort(new Error("gave up"));
              await settle();
              break;
            case "wait":
              await clock.advance(now.ms);
              break;
            case "answer":
              await reply(now.index, now.outcome);
              break;
          }
        }
        // Let everything end: windows close, calls are answered.
        do {
          await clock.advance(20);
          await reply(0, "new");
        } while (
          open.size > 0 ||
          seen < provider.calls.length ||
          (clock.nextTimerMs ?? Number.POSITIVE_INFINITY) <= 20
        );

        for (const call of provider.calls) {
          expect(call.names.length).toBeLessThanOrEqual(maxBatch);
          expect(new Set(call.names).size).toBe(call.names.length);
        }
        expect(provider.calls.length).toBeLessThanOrEqual(asked.length);
        expect(asked.filter(({ outcome }) => outcome === undefined)).toEqual([]);
        expect(asked.filter(({ outcome, control }) => outcome === "rejected" && !control.signal.aborted)).toEqual([]);
        const stale = asked.filter(({ outcome, askedAtMs, maxDataAgeMs }) => {
          if (outcome === undefined || outcome === "rejected" || outcome.kind !== "present") return false;
          const readAtMs = clock.monotonicMs() - (clock.nowMs() - outcome.readTimeMs);
          return readAtMs < askedAtMs - maxDataAgeMs;
        });
        expect(stale).toEqual([]);
        const mixedUp = asked.filter(
          ({ outcome, name }) =>
            typeof outcome === "object" && outcome.kind === "present" && outcome.instance.name !== name,
        );
        expect(mixedUp).toEqual([]);
      },
    ),
    { numRuns: 300 },
  );
});
