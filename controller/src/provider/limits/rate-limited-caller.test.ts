import { EnsureLoadBalancerRequest } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { beforeEach, describe, expect, test } from "vitest";
import { FakeClock, settle } from "../../../test/support/fake-clock.ts";
import { FakeLog } from "../../../test/support/fake-log.ts";
import { Metrics } from "../../telemetry/metrics.ts";
import { Semaphore } from "../../util/semaphore.ts";
import { budgetMetrics } from "./metrics.ts";
import { GroupedCallBudget } from "./call-budget.ts";
import { rateGroups } from "../model/call-rate.ts";
import { contractError } from "../model/errors.ts";
import { RateLimitedCaller } from "./rate-limited-caller.ts";
import { RPCS, type Rpc, type RpcCaller, type RpcOptions } from "../convert/methods.ts";

/** Calls that are sent, each ended by hand. */
interface Sent {
  readonly requestId: string;
  readonly atMs: number;
  readonly fail: (error: Error) => void;
}

let clock: FakeClock;
let sent: Sent[];
let budget: GroupedCallBudget;
beforeEach(() => {
  clock = new FakeClock();
  sent = [];
  budget = new GroupedCallBudget(rateGroups([], []), {
    provider: "acme",
    clock,
    metrics: budgetMetrics(new Metrics())("acme"),
    log: new FakeLog(),
  });
});

const caller: RpcCaller = {
  unary<Request, Response>(_rpc: Rpc<Request, Response>, _request: Request, { requestId }: RpcOptions) {
    const { promise, reject } = Promise.withResolvers<Response>();
    sent.push({ requestId, atMs: clock.monotonicMs(), fail: reject });
    return promise;
  },
};

/** Calls of one class, all at once; answers how they end. */
function callAll(count: number, limit: number, signal = new AbortController().signal, refuse?: () => void) {
  const semaphore = new Semaphore(limit);
  const governed = new RateLimitedCaller({
    caller,
    budget,
    semaphore,
    admit: () => Promise.resolve(),
    clock,
    random: () => 0,
  });
  const calls = Array.from({ length: count }, (_, index) =>
    governed.call(RPCS.ensureLoadBalancer, EnsureLoadBalancerRequest.fromPartial({}), {
      signal,
      priority: "high",
      requestId: `call ${index}`,
      traceparent: "",
      ...(refuse === undefined ? {} : { refuse }),
    }),
  );
  return { semaphore, ended: Promise.allSettled(calls) };
}

const throttled = (retryAfterMs: number) =>
  contractError("RATE_LIMITED", "the cloud throttles", { requestId: "call 0", retryAfterMs });

describe("RateLimitedCaller.call()", () => {
  test("sends none of the queued calls once the first is throttled", async () => {
    const { semaphore, ended } = callAll(10, 1);
    await settle();
    sent[0]?.fail(throttled(30_000));
    const outcomes = await ended;
    expect(sent.map(({ requestId }) => requestId)).toEqual(["call 0"]);
    const refused = { status: "rejected", reason: { reason: "RATE_LIMITED", retryAfterMs: 30_000 } };
    expect(outcomes).toMatchObject(Array.from({ length: 10 }, () => refused));
    expect([semaphore.inside, semaphore.waiting, clock.timers]).toEqual([0, 0, 0]);
  });

  test("sends them one after the other after a short hold", async () => {
    const { ended } = callAll(3, 1);
    await settle();
    sent[0]?.fail(throttled(2000));
    await clock.advance(1999);
    expect(sent).toHaveLength(1);
    await clock.advance(1);
    sent[1]?.fail(new Error("broken"));
    await clock.advance(1000);
    sent[2]?.fail(new Error("broken"));
    await ended;
    expect(sent.map(({ requestId, atMs }) => [requestId, atMs])).toEqual([
      ["call 0", 0],
      ["call 1", 2000],
      ["call 2", expect.any(Number)],
    ]);
    expect(sent[2]?.atMs).toBeGreaterThan(2000);
  });

  test("sends calls acquired before a pause that has ended one after the other", async () => {
    callAll(6, 2);
    await settle();
    budget.hold("load_balancers", 1000);
    await clock.advance(3000);
    for (const { fail } of sent) fail(new Error("broken"));
    await settle();
    expect(sent.map(({ requestId }) => requestId)).toEqual(["call 0", "call 1", "call 2"]);
  });

  test("asks when its turn has come whether the call is still to be made, and gives its part of the budget back", async () => {
    budget.setRates(rateGroups([], [{ quotaClass: undefined, rate: { cloudCallsPerSecond: 1, burst: 3 } }]));
    const superseded = new Error("it is wanted again");
    let isSuperseded = false;
    const { ended } = callAll(2, 1, undefined, () => {
      if (isSuperseded) throw superseded;
    });
    await settle();
    isSuperseded = true;
    sent[0]?.fail(new Error("broken"));
    expect(await ended).toMatchObject([{ reason: { message: "broken" } }, { reason: { cause: superseded } }]);
    expect(sent.map(({ requestId }) => requestId)).toEqual(["call 0"]);
    expect(budget.snapshot()).toMatchObject([{ tokens: 2 }]);
  });

  test("gives its part of the budget back when it is given up while it waits for its turn", async () => {
    budget.setRates(rateGroups([], [{ quotaClass: undefined, rate: { cloudCallsPerSecond: 1, burst: 3 } }]));
    const impatient = new AbortController();
    const { ended } = callAll(3, 1, impatient.signal);
    await settle();
    impatient.abort(new Error("enough"));
    sent[0]?.fail(new Error("cancelled"));
    await ended;
    expect(budget.snapshot()).toMatchObject([{ tokens: 2, waiting: { high: 0, low: 0 } }]);
  });
});
