import { setTimeout as wait } from "node:timers/promises";
import type { BatchGetInstancesResponse } from "@cloudwire/proto/cloudprovider/v1/instance";
import { pauseMs } from "../../contract/duration.ts";
import { methods, methodsByName } from "../../contract/methods.ts";
import { sampleRequest } from "../../contract/samples.ts";
import type { Called } from "../../endpoint/caller.ts";
import { outcomeLine } from "../../endpoint/exchange.ts";
import { client } from "../../endpoint/reach.ts";
import type { Check, CheckContext } from "../../suite/check.ts";
import { expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import { expectOne } from "../load-balancers/load-balancers.ts";
import { TestBalancer, lifeMs, withBalancer } from "../load-balancers/test-balancer.ts";
import { waitingTime } from "./measure.ts";

/** Many calls at once. */
export const concurrencyChecks: readonly Check[] = [
  {
    level: "R",
    profile: "core",
    id: "conc.handshake",
    title: "the handshake is answered while as many other calls are under way as the handshake allows, and more",
    rules: ["CON-1"],
    why: "Whether a provider lives must be seen when it is busiest.",
    exclusive: true,
    timeoutMs: 60_000,
    run: async (context) => {
      // The controller never has more than 256 outstanding.
      const count = Math.min(250, (context.info.limits?.maxConcurrentCalls ?? 10) * 2);
      const method = methodsByName.GetProviderStatus;
      const others = Array.from({ length: count }, () =>
        context.caller.call(method, sampleRequest("GetProviderStatus", context), { patienceMs: 30_000 }),
      );
      expectOk(await context.caller.call(methods.getProviderInfo, { client }), "the handshake beside other calls");
      const answers = await Promise.all(others);
      expectNone(
        answers.flatMap((called) => (called.kind === "ok" ? [] : [outcomeLine(called)])),
        "calls about the status are not answered",
      );
    },
  },
  {
    level: "M",
    profile: "loadbalancer",
    id: "conc.ensure.same",
    title: "Ensures of one Service side by side leave one load balancer",
    rules: ["LB-1", "LB-14"],
    why: "Two controllers overlap when one takes over from the other.",
    requires: ["lb.ensure.active"],
    exclusive: true,
    timeoutMs: lifeMs,
    run: (context) =>
      withBalancer(context, async (balancer) => {
        const answers = await Promise.all(Array.from({ length: 10 }, () => balancer.ensure()));
        const problems = answers.flatMap((called) => {
          const busy = called.kind === "error" && called.error.code === 10;
          return called.kind === "ok" || busy ? [] : [outcomeLine(called)];
        });
        expectNone(problems, "some are neither done nor asked to retry", { expected: "OK or ABORTED" });
        const { id } = await balancer.converge();
        await expectOne(context, balancer, id);
      }),
  },
  {
    level: "M",
    profile: "loadbalancer",
    id: "conc.ensure-delete",
    title: "after Ensures and deletions side by side the last word holds",
    rules: ["LB-10", "LB-14"],
    why: "A change that a deletion superseded must not recreate the object: no controller would know about it.",
    requires: ["lb.ensure.active"],
    exclusive: true,
    timeoutMs: lifeMs,
    run: (context) =>
      withBalancer(context, async (balancer) => {
        await Promise.all(
          Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? balancer.ensure() : balancer.deleteOnce())),
        );
        await balancer.remove();
        const left = await balancer.get();
        if (left !== undefined) fail({ message: "it is back", expected: "absent", got: show(left) });
      }),
  },
];

const reading = { level: "R", profile: "instances", fixtures: ["instance"], exclusive: true } as const;
const changing = {
  level: "M",
  profile: "loadbalancer",
  requires: ["lb.ensure.active"],
  exclusive: true,
  timeoutMs: lifeMs,
} as const;

/** The controller never has more calls outstanding. */
const mostCalls = 250;

const foreign = "conformance-other-cloud://machine-1";

/** A batch in which the machine of the configuration stands at every n-th place. */
const batch = (context: CheckContext, count: number, every: number) => {
  const providerId = context.fixtures.instance?.providerId ?? "";
  const nodes = Array.from({ length: count }, (_, index) => ({
    name: `n-${index}`,
    providerId: index % every === 0 ? providerId : foreign,
  }));
  return context.caller.call(
    methods.batchGetInstances,
    { context: context.callContext, nodes },
    { patienceMs: 60_000 },
  );
};

/** Where the results of a batch are not what was asked for there. */
const misplaced = (called: Called<BatchGetInstancesResponse>, count: number, every: number): readonly string[] => {
  if (called.kind !== "ok") return [outcomeLine(called)];
  const { results } = called.response;
  if (results.length !== count) return [`${results.length} results of ${count}`];
  const wrong = results.findIndex(({ outcome }, index) => (outcome?.$case === "instance") !== (index % every === 0));
  return wrong < 0 ? [] : [`result ${wrong} of a batch with the machine at every place of ${every} is another's`];
};

const isRefusedForNumber = (called: Called<unknown>): boolean => called.kind === "error" && called.error.code === 8;

const reads: readonly Check[] = [
  {
    ...reading,
    id: "conc.batch",
    title: "ten of the largest batches side by side are answered, each with its own results",
    rules: ["BAT-1", "CON-1"],
    why: "A result of another call is a Node with another machine.",
    timeoutMs: 120_000,
    run: async (context) => {
      const count = context.info.capabilities?.instances?.maxBatchSize ?? 1;
      const every = Array.from({ length: 10 }, (_, index) => index + 2);
      const answers = await Promise.all(every.map((step) => batch(context, count, step)));
      expectNone(
        answers.flatMap((called, index) => misplaced(called, count, every[index] ?? 1)),
        "batches side by side are answered wrongly",
      );
    },
  },
  {
    ...reading,
    id: "conc.limit",
    title: "max_concurrent_calls are served concurrently; more calls wait, or fail with TOO_MANY_CALLS and RetryInfo",
    rules: ["CON-1", "ERR-1"],
    why: "The controller stays within the declared number, and treats rejections as a problem.",
    timeoutMs: 120_000,
    run: async (context) => {
      const max = context.info.limits?.maxConcurrentCalls ?? 1;
      const within = await Promise.all(Array.from({ length: Math.min(max, mostCalls) }, () => batch(context, 2, 2)));
      const refused = within.filter(isRefusedForNumber);
      expectNone(refused.map(outcomeLine), `of ${within.length} calls at once some are refused; ${max} were promised`);
      if (max >= mostCalls) return;
      const beyond = await Promise.all(Array.from({ length: mostCalls }, () => batch(context, 2, 2)));
      expectNone(
        beyond.flatMap((called) => {
          if (called.kind === "ok") return [];
          const isReported =
            called.kind === "error" &&
            called.error.infos[0]?.reason === "TOO_MANY_CALLS" &&
            (called.error.retryDelayMs ?? 0) > 0;
          return isReported ? [] : [outcomeLine(called)];
        }),
        "calls beyond the limit are refused in another way",
        { expected: "OK, or TOO_MANY_CALLS with RetryInfo" },
      );
      // A caller that was rejected succeeds when it retries as the error asks.
      const delays = beyond.map((called) =>
        pauseMs(called.kind === "error" ? called.error.retryDelayMs : undefined, 0),
      );
      await wait(Math.max(...delays), undefined, { signal: context.signal });
      expectOk(await batch(context, 2, 2), "a call after those that were too many");
    },
  },
];

/** An Ensure that takes at least so long holds others up visibly. */
const slowMs = 200;
/** On a machine that is busy everything may wait for a moment. */
const tries = 3;

/** Which calls were answered after an Ensure that was sent before them, and how long that one was waited for. */
const heldUp = (context: CheckContext) =>
  withBalancer(context, async (balancer) => {
    const other = new TestBalancer(context);
    const order: string[] = [];
    const noted = async <Value>(name: string, work: Promise<Value>): Promise<Value> => {
      const value = await work;
      order.push(name);
      return value;
    };
    const waiting = waitingTime();
    const slow = noted("Ensure", balancer.ensure()).then(waiting);
    // What the run is about to make is written down first: by now the Ensure is on its way.
    await Promise.race([slow, wait(slowMs / 2, undefined, { signal: context.signal })]);
    const [waitedMs, , shaken] = await Promise.all([
      slow,
      noted("Get", other.get()),
      noted("GetProviderInfo", context.caller.call(methods.getProviderInfo, { client })),
    ]);
    expectOk(shaken, "the handshake beside an Ensure");
    // A quick call delays no other.
    const isSlow = waitedMs >= slowMs * context.slowFactor;
    return { late: isSlow ? order.slice(order.indexOf("Ensure") + 1) : [], waitedMs };
  });

const changes: readonly Check[] = [
  {
    ...changing,
    id: "conc.ensure.many",
    title: "while one load balancer is made, others and the handshake are answered",
    rules: ["CON-2", "CON-1"],
    why: "One slow Service would hold up all others of the cluster.",
    run: async (context) => {
      let held = await heldUp(context);
      for (let more = 1; more < tries && held.late.length > 0; more++) held = await heldUp(context);
      expectNone(held.late, `calls waited for an Ensure of ${Math.round(held.waitedMs)} ms about something else`);
    },
  },
  {
    ...changing,
    id: "conc.ensure.others",
    title: "load balancers of five Services made side by side are five",
    rules: ["CON-2", "LB-1"],
    why: "A new cluster brings all its Services at once.",
    run: async (context) => {
      const balancers = Array.from({ length: 5 }, () => new TestBalancer(context));
      try {
        const made = await Promise.all(balancers.map((balancer) => balancer.converge()));
        const ids = new Set(made.map(({ id }) => id));
        if (ids.size !== 5) fail({ message: "some are the same", expected: "5", got: [...ids].join(", ") });
        for (const [index, balancer] of balancers.entries()) await expectOne(context, balancer, made[index]?.id ?? "");
      } finally {
        await Promise.all(balancers.map((balancer) => balancer.remove().catch(() => undefined)));
      }
    },
  },
  {
    ...changing,
    id: "conc.delete.same",
    title: "deletions of one load balancer side by side are done or ABORTED, and it is gone",
    rules: ["LB-10", "LB-14"],
    why: "Two controllers overlap when one takes over from the other.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        await balancer.converge();
        const answers = await Promise.all(Array.from({ length: 10 }, () => balancer.deleteOnce()));
        expectNone(
          answers.flatMap((called) => {
            const isBusy = called.kind === "error" && called.error.code === 10;
            return called.kind === "ok" || isBusy ? [] : [outcomeLine(called)];
          }),
          "some are neither done nor asked to retry",
          { expected: "OK or ABORTED" },
        );
        await balancer.remove();
        if ((await balancer.get()) !== undefined) fail({ message: "it is still there", expected: "absent" });
      }),
  },
  {
    ...changing,
    id: "time.cancel.adopts",
    title: "an Ensure that was cancelled, and one whose deadline passed, leave what the next takes over",
    rules: ["TIM-2", "LB-1"],
    why: "A controller that stops cancels all calls in progress; no controller deletes what they left behind.",
    run: (context) =>
      withBalancer(context, async (balancer) => {
        for (const ms of [0, 2, 10, 50]) await balancer.ensure({}, { signal: AbortSignal.timeout(ms) });
        for (const deadlineMs of [1, 5, 20]) await balancer.ensure({}, { deadlineMs, patienceMs: 5_000 });
        const { id } = await balancer.converge();
        await expectOne(context, balancer, id);
        await balancer.remove();
        if ((await balancer.get()) !== undefined) fail({ message: "something is left", expected: "absent" });
      }),
  },
];

/** How many calls there may be at once, and what they may not do to each other. */
export const concurrencyLimitChecks: readonly Check[] = [...reads, ...changes];
