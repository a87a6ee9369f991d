import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock, settle } from "../../../test/support/fake-clock.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { type QuotaClass, rateGroups } from "../model/call-rate.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { HIGH_IN_A_ROW, type Priority } from "../../util/semaphore.ts";
import { budgetMetrics } from "./metrics.ts";
import { GroupedCallBudget } from "./call-budget.ts";

const never = new AbortController().signal;
const ALL: readonly QuotaClass[] = ["instances", "load_balancers", "routes", "volumes"];

let clock: FakeClock;
let metrics: Metrics;
let log: FakeLog;
let budget: GroupedCallBudget;

/** Those that may be made, in the order in which they may. */
let sent: string[];

beforeEach(() => {
  clock = new FakeClock();
  metrics = new Metrics();
  log = new FakeLog();
  budget = budgetWith();
  sent = [];
});

/** One rate for all classes, or none. */
function budgetWith(rate?: { readonly cloudCallsPerSecond: number; readonly burst: number }): GroupedCallBudget {
  const declared = rate === undefined ? [] : [{ classes: ALL, ...rate }];
  metrics = new Metrics();
  return new GroupedCallBudget(rateGroups(declared, []), {
    provider: "acme",
    clock,
    metrics: budgetMetrics(metrics)("acme"),
    log,
  });
}

function ask(name: string, priority: Priority, quotaClass: QuotaClass = "instances", signal = never): Promise<void> {
  return budget.acquire(quotaClass, { priority, signal }).then(() => void sent.push(name));
}

test("GroupedCallBudget admits the call of a namespace within two turns while another namespace fills the line (case A-6)", async () => {
  budget = budgetWith({ cloudCallsPerSecond: 5, burst: 1 });
  const busy = Array.from({ length: 250 }, () =>
    budget.acquire("load_balancers", { priority: "high", signal: never, group: "busy" }).catch(() => undefined),
  );
  await clock.advance(1000);
  const quiet = budget
    .acquire("load_balancers", { priority: "high", signal: never, group: "quiet" })
    .then(() => void sent.push("quiet"));
  await clock.advance(400);
  expect(sent).toEqual(["quiet"]);
  await clock.advance(60_000);
  await Promise.all([quiet, ...busy]);
});

describe("GroupedCallBudget without rates", () => {
  test("lets every call go until the provider says wait", async () => {
    await Promise.all(
      Array.from({ length: 200 }, () => budget.acquire("instances", { priority: "low", signal: never })),
    );
    expect(clock.timers).toBe(0);
  });

  test("waits a short hold out", async () => {
    budget.hold("instances", 3000);
    void ask("a", "high");
    await clock.advance(2999);
    expect(sent).toEqual([]);
    await clock.advance(1);
    expect(sent).toEqual(["a"]);
  });

  test("sends callers away during a long hold, those in line too, and reports when to retry", async () => {
    budget.hold("instances", 1000);
    const inLine = budget.acquire("instances", { priority: "high", signal: never });
    budget.hold("instances", 60_000);
    const refused = { reason: "RATE_LIMITED", class: "WAIT", isClientThrottled: true };
    await expect(inLine).rejects.toMatchObject({ ...refused, retryAfterMs: 60_000 });
    await clock.advance(20_000);
    await expect(budget.acquire("instances", { priority: "high", signal: never })).rejects.toMatchObject({
      ...refused,
      retryAfterMs: 40_000,
    });
    expect(
      await metrics.value("cloudwire_provider_calls_rejected_total", { quota_class: "instances", priority: "high" }),
    ).toBe(2);
    expect(await metrics.value("cloudwire_provider_throttle_pauses_total", { quota_class: "instances" })).toBe(1);
  });

  test("says once a minute that calls wait, however many do", async () => {
    budget.hold("instances", 60_000);
    const refused = Array.from({ length: 50 }, () =>
      budget.acquire("instances", { priority: "low", signal: never }).catch(() => undefined),
    );
    await Promise.all(refused);
    const line = { level: "info", message: "Calls to provider are queued by the call budget" };
    expect(log.lines).toMatchObject([{ ...line, fields: { quotaClass: "instances", heldMs: 60_000 } }]);
    await clock.advance(30_000);
    budget.hold("load_balancers", 1000);
    budget.hold("instances", 60_000);
    expect(log.lines.map(({ fields }) => fields["quotaClass"])).toEqual(["instances", "load_balancers"]);
    await clock.advance(30_000);
    await budget.acquire("instances", { priority: "low", signal: never }).catch(() => undefined);
    expect(log.lines).toHaveLength(3);
  });

  test("holds one class and no other", async () => {
    budget.hold("instances", 60_000);
    await expect(budget.acquire("load_balancers", { priority: "high", signal: never })).resolves.toBeUndefined();
  });

  test("waits some time of its own when no duration is reported", async () => {
    budget.hold("instances", undefined);
    expect(budget.snapshot()[0]).toMatchObject({ classes: ["instances"], heldMs: 5000 });
  });

  test("one that gives up while waiting gets the signal's reason, takes nothing and leaves no timer", async () => {
    budget.hold("instances", 3000);
    const impatient = new AbortController();
    const waiting = ask("impatient", "high", "instances", impatient.signal);
    void ask("patient", "low");
    await settle();
    impatient.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await clock.advance(3000);
    expect(sent).toEqual(["patient"]);
    expect(clock.timers).toBe(0);
    expect(
      await metrics.value("cloudwire_provider_calls_rejected_total", { quota_class: "instances" }),
    ).toBeUndefined();
  });
});

describe("GroupedCallBudget with a rate", () => {
  beforeEach(() => {
    budget = budgetWith({ cloudCallsPerSecond: 2, burst: 1 });
  });

  test("serves the urgent first, in the order of coming", async () => {
    void ask("first", "low");
    void ask("refresh", "low");
    void ask("delete-1", "high");
    void ask("delete-2", "high");
    await clock.advance(500);
    await clock.advance(500);
    await clock.advance(500);
    expect(sent).toEqual(["first", "delete-1", "delete-2", "refresh"]);
    expect(await metrics.text()).toContain(
      'cloudwire_provider_call_wait_seconds_sum{provider="acme",quota_class="instances",priority="low"} 1.5',
    );
  });

  test("counts what answers cost the cloud", async () => {
    await ask("dear", "high");
    budget.settle("instances", 4);
    void ask("next", "high");
    await clock.advance(1999);
    expect(sent).toEqual(["dear"]);
    await clock.advance(1);
    expect(sent).toEqual(["dear", "next"]);
  });

  test("gives back what was not sent", async () => {
    await ask("unsent", "high");
    budget.settle("instances", 0);
    await ask("next", "high");
    expect(sent).toEqual(["unsent", "next"]);
  });

  test("sends those away who would wait too long, but never the first of a kind", async () => {
    const waiting = Array.from({ length: 12 }, (_, index) => ask(`high ${index}`, "high"));
    const outcomes = Promise.allSettled(waiting);
    void ask("low", "low");
    await clock.advance(10_000);
    const refused = (await outcomes).filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(1);
    expect(refused).toMatchObject([{ reason: { reason: "RATE_LIMITED", retryAfterMs: 5500 } }]);
    expect(sent).toHaveLength(12);
    expect(sent.indexOf("low")).toBe(1 + HIGH_IN_A_ROW);
  });

  test("keeps the first of either kind in line however slow it goes", async () => {
    budget = budgetWith({ cloudCallsPerSecond: 0.1, burst: 1 });
    await ask("at once", "high");
    void ask("low", "low");
    void ask("high", "high");
    await expect(ask("second high", "high")).rejects.toMatchObject({ reason: "RATE_LIMITED" });
    await clock.advance(10_000);
    await clock.advance(10_000);
    expect(sent).toEqual(["at once", "high", "low"]);
  });

  test("keeps those in line, and holds, when classes are shared in another way", async () => {
    void ask("a", "high", "routes");
    void ask("b", "high", "routes");
    budget.hold("volumes", 1000);
    void ask("c", "high", "instances");
    budget.setRates(rateGroups([{ classes: ["routes"], cloudCallsPerSecond: 2, burst: 1 }], []));
    expect(budget.snapshot()).toMatchObject([
      { classes: ["routes"], heldMs: 1000, waiting: { high: 1, low: 0 } },
      { classes: ["instances"], heldMs: 1000, waiting: { high: 1, low: 0 } },
      { classes: ["load_balancers"], heldMs: 1000 },
      { classes: ["volumes"], heldMs: 1000 },
    ]);
    await clock.advance(1000);
    expect(sent).toEqual(["a", "b", "c"]);
    expect(clock.timers).toBe(0);
  });

  test("shows what there is, without series where there is no limit", async () => {
    budget.setRates(rateGroups([{ classes: ["routes", "volumes"], cloudCallsPerSecond: 2, burst: 3 }], []));
    const own = new Metrics();
    budgetMetrics(own)("acme").watch(
      () => budget.snapshot(),
      () => clock.nowMs(),
    );
    budget.hold("volumes", 2000);
    const heldUntil = (clock.nowMs() + 2000) / 1000;
    const of = (name: string, quotaClass: QuotaClass) => own.value(name, { provider: "acme", quota_class: quotaClass });
    expect({
      shared: [
        await of("cloudwire_provider_call_budget_tokens", "routes"),
        await of("cloudwire_provider_call_budget_burst", "routes"),
        await of("cloudwire_provider_call_budget_cloud_calls_per_second", "volumes"),
        await of("cloudwire_provider_throttled_until_timestamp_seconds", "routes"),
      ],
      free: [
        await of("cloudwire_provider_call_budget_tokens", "instances"),
        await of("cloudwire_provider_throttled_until_timestamp_seconds", "instances"),
      ],
    }).toEqual({ shared: [1, 1, 1, heldUntil], free: [undefined, 0] });
  });
});

describe("GroupedCallBudget", () => {
  type Step =
    | { readonly kind: "ask"; readonly priority: Priority; readonly quotaClass: QuotaClass }
    | { readonly kind: "abort" }
    | { readonly kind: "pass"; readonly ms: number };

  const steps: fc.Arbitrary<Step> = fc.oneof(
    fc.record({
      kind: fc.constant("ask"),
      priority: fc.constantFrom<Priority>("high", "low"),
      quotaClass: fc.constantFrom(...ALL),
    }),
    fc.record({ kind: fc.constant("abort") }),
    fc.record({ kind: fc.constant("pass"), ms: fc.integer({ min: 0, max: 1500 }) }),
  );

  test("never lets more go than burst and rate allow, and settles every call", async () => {
    const rate = { cloudCallsPerSecond: 4, burst: 3 };
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { maxLength: 60 }), async (history) => {
        clock = new FakeClock();
        budget = budgetWith(rate);
        const times: number[] = [];
        const open: AbortController[] = [];
        const calls: Promise<unknown>[] = [];
        for (const step of history) {
          if (step.kind === "ask") {
            const controller = new AbortController();
            open.push(controller);
            const noted = () => void times.push(clock.monotonicMs());
            calls.push(
              budget
                .acquire(step.quotaClass, { priority: step.priority, signal: controller.signal })
                .then(noted, () => undefined),
            );
          } else if (step.kind === "abort") open.shift()?.abort(new Error("enough"));
          else await clock.advance(step.ms);
        }
        await clock.advance(60_000);
        await Promise.all(calls);
        expect(clock.timers).toBe(0);
        const tooMany = times.filter((atMs, index) => {
          const later = times.slice(index).map((otherMs, count) => ({ spanMs: otherMs - atMs, calls: count + 1 }));
          return later.some(
            ({ spanMs, calls: count }) => count > rate.burst + (spanMs / 1000) * rate.cloudCallsPerSecond + 1e-6,
          );
        });
        expect(tooMany).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
