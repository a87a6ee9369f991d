import { setTimeout as wait } from "node:timers/promises";
import { ConditionStatus } from "@cloudwire/proto/cloudprovider/v1/common";
import { HealthCheckResponse_ServingStatus, HealthDefinition } from "@cloudwire/proto/grpc/health/v1/health";
import type { Check, CheckContext } from "../../suite/check.ts";
import { expectError, expectOk, fail, show } from "../../suite/expect.ts";
import type { HookName } from "../../suite/hooks.ts";
import type { Called } from "../../endpoint/caller.ts";
import { methods, serviceName } from "../../contract/methods.ts";
import { client } from "../../endpoint/reach.ts";
import { TestBalancer } from "../load-balancers/test-balancer.ts";
import { askCloud, disruptive, during, lookUntil, statusOf, untilFelt, untilWell } from "./broken-cloud.ts";

/** The contract's time limit for the status to report a fault (STA-2). */
const statusMs = 30_000;

/** Waits until the status says what is wrong, asking the cloud as a controller does meanwhile. */
const untilReported = async (context: CheckContext, condition: string): Promise<void> => {
  const { done, value } = await lookUntil(
    context,
    async () => {
      await askCloud(context);
      const { status, exchange } = await statusOf(context);
      const found = status.conditions.find(({ type }) => type === condition);
      const reported = found?.status === ConditionStatus.FALSE && (found.reason ?? "") !== "";
      return { done: !status.ready && reported, value: { ready: status.ready, found, exchange } };
    },
    statusMs,
  );
  if (!done)
    fail({
      message: `the status does not report it within ${statusMs / 1_000} s`,
      expected: `ready=false and ${condition} FALSE with a reason`,
      got: show({ ready: value.ready, condition: value.found }),
      exchange: value.exchange,
    });
};

/** Waits until the status is ready again. */
const untilReady = async (context: CheckContext): Promise<void> => {
  await untilWell(context);
  const { done, value } = await lookUntil(context, async () => {
    await askCloud(context);
    const { status, exchange } = await statusOf(context);
    return { done: status.ready, value: { conditions: status.conditions, exchange } };
  });
  if (!done)
    fail({
      message: "the provider does not get ready again within a minute",
      expected: "ready=true",
      got: show(value.conditions),
      exchange: value.exchange,
    });
};

const statusCheck = (id: string, hook: HookName, condition: string, title: string, why: string): Check => ({
  ...disruptive,
  id,
  title,
  rules: ["STA-2"],
  why,
  hooks: [hook],
  run: async (context) => {
    await untilReady(context);
    await context.hooks.set(hook);
    await untilReported(context, condition);
    await context.hooks.undo(hook);
    await untilReady(context);
  },
});

const duringOutage: readonly Check[] = [
  {
    ...disruptive,
    id: "info.offline",
    title: "the handshake is answered while the cloud cannot be reached",
    rules: ["INF-1"],
    why: "A controller that starts during an outage would not get to know the provider. Usually the handshake asks the cloud for the account.",
    hooks: ["cloudBlock"],
    run: (context) =>
      during(context, "cloudBlock", async () => {
        await untilFelt(context, "cloudBlock");
        for (let round = 0; round < 5; round++) {
          const called = await context.caller.call(methods.getProviderInfo, { client });
          const { scopeId } = expectOk(called, "the handshake fails with the cloud").response;
          if (scopeId !== context.info.scopeId)
            fail({ message: "the scope is another", expected: context.info.scopeId, got: scopeId });
        }
      }),
  },
  {
    ...disruptive,
    id: "health.independent",
    title: "health stays SERVING while the cloud cannot be reached",
    rules: ["TRN-10"],
    why: "Kubernetes restarts unhealthy containers: a restart does not repair the cloud, and the provider loses its state.",
    hooks: ["cloudBlock"],
    run: (context) =>
      during(context, "cloudBlock", async () => {
        await untilFelt(context, "cloudBlock");
        for (const service of ["", serviceName]) {
          const options = { service: HealthDefinition.fullName };
          const called = await context.caller.call(HealthDefinition.methods.check, { service }, options);
          const { status } = expectOk(called, `health of "${service}" fails with the cloud`).response;
          if (status !== HealthCheckResponse_ServingStatus.SERVING)
            fail({ message: `health of "${service}" follows the cloud`, expected: "SERVING", got: String(status) });
        }
      }),
  },
  statusCheck(
    "status.outage",
    "cloudBlock",
    "CloudReachable",
    "while the cloud cannot be reached, the status says so within 30 s, and then that it is well again",
    "The controller removes no Node while the provider is not ready: a status that stays ready takes that guard away.",
  ),
  statusCheck(
    "status.cred-expiry",
    "credRevoke",
    "CredentialsValid",
    "while the cloud refuses the credentials, the status says so within 30 s, and then that they are valid again",
    "It is what an operator looks at first. Usually a refusal is shown as an outage, or not at all.",
  ),
];

/** What an error of the cloud has to become. */
interface Wanted {
  readonly id: string;
  readonly hook: HookName;
  readonly title: string;
  readonly why: string;
  readonly rules: readonly string[];
  readonly code: number;
  readonly reasons: readonly string[];
  readonly detail?: string;
}

const errors: readonly Wanted[] = [
  {
    id: "fault.cloud.429",
    hook: "cloudFault429",
    title: "throttling is RATE_LIMITED, with the time to wait in RetryInfo",
    why: "The controller holds its calls for that long; without it, it keeps the throttle going.",
    rules: ["ERR-1", "RPC-2"],
    code: 8,
    reasons: ["RATE_LIMITED"],
    detail: "RetryInfo",
  },
  {
    id: "fault.cloud.5xx",
    hook: "cloudFault500",
    title: "a server error of the cloud is CLOUD_UNAVAILABLE",
    why: "UNAVAILABLE is tried again and holds deletions back. INTERNAL says that the provider itself is broken.",
    rules: ["ERR-1", "RPC-2"],
    code: 14,
    reasons: ["CLOUD_UNAVAILABLE", "CLOUD_TIMEOUT"],
  },
];

const expectDetail = (called: Called<unknown>, detail: string): void => {
  if (called.kind !== "error" || called.error.details.includes(detail)) return;
  fail({
    message: `the error carries no ${detail}`,
    expected: detail,
    got: called.error.details.join(", "),
    exchange: called.exchange,
  });
};

const errorChecks: readonly Check[] = errors.map(({ id, hook, title, why, rules, code, reasons, detail }) => ({
  ...disruptive,
  id,
  title,
  why,
  rules,
  hooks: [hook],
  run: (context) =>
    during(context, hook, async () => {
      const called = await untilFelt(context, hook);
      expectError(called, { codes: [code], reasons }, "the cloud's error is reported as another");
      if (detail !== undefined) expectDetail(called, detail);
    }),
}));

/** Deadline of a call that the cloud never answers. */
const hangMs = 5_000;
/** How exact a deadline is kept where the stream is reset instead of an answer. */
const [earlyMs, resetMs] = [100, 800];
/** What needs no cloud takes no longer than this beside it. */
const besideMs = 2_000;

const others: readonly Check[] = [
  {
    ...disruptive,
    id: "fault.cloud.hang",
    title: "a cloud that never answers holds a call no longer than its deadline, and no other call at all",
    rules: ["TIM-2", "CON-2"],
    why: "A provider without time-outs of its own runs out of workers with the first connection that the cloud forgets.",
    hooks: ["cloudFaultHang"],
    run: (context) =>
      during(context, "cloudFaultHang", async () => {
        const asked = askCloud(context, { deadlineMs: hangMs });
        const startedMs = performance.now();
        await statusOf(context);
        expectOk(await context.caller.call(methods.getProviderInfo, { client }), "the handshake waits for the cloud");
        const elapsedMs = performance.now() - startedMs;
        if (elapsedMs > besideMs * context.slowFactor)
          fail({
            message: "status and handshake wait for the cloud",
            expected: `both within ${besideMs} ms`,
            got: `${elapsedMs.toFixed(0)} ms`,
          });
        const called = await asked;
        // Some servers reset the stream at the deadline: the client has given up by then.
        const sinceDeadlineMs = called.kind === "broken" ? called.wire.elapsedMs - hangMs : Number.NaN;
        if (!(sinceDeadlineMs > -earlyMs && sinceDeadlineMs < resetMs))
          expectError(called, { codes: [4, 14] }, "a call that the cloud does not answer");
      }),
  },
  {
    ...disruptive,
    id: "fault.cloud.quota",
    title: "a quota that is used up is QUOTA_EXCEEDED, with the quota in QuotaFailure",
    rules: ["RPC-2", "ERR-1"],
    why: "An operator has to raise it. As UNAVAILABLE it would be retried forever, without a visible reason.",
    capability: "load_balancers",
    hooks: ["cloudFaultQuota"],
    run: async (context) => {
      const balancer = new TestBalancer(context);
      await context.hooks.set("cloudFaultQuota");
      try {
        const called = await balancer.ensure();
        const wanted = { codes: [8], reasons: ["QUOTA_EXCEEDED"] };
        expectError(called, wanted, "a load balancer beyond the quota");
        expectDetail(called, "QuotaFailure");
      } finally {
        await context.hooks.undo("cloudFaultQuota");
        await balancer.remove().catch(() => undefined);
      }
    },
  },
  {
    ...disruptive,
    id: "fault.cred.rotate",
    title: "new credentials are used within 60 s, without a restart",
    rules: ["SEC-1"],
    why: "Credentials are rotated by night. Usually they are read once, at the start.",
    hooks: ["credRotate"],
    run: async (context) => {
      await context.hooks.set("credRotate");
      await untilWell(context);
      await context.hooks.undo("credRotate");
      await untilWell(context);
    },
  },
];

/** How long the check counts cloud calls that no request caused. */
const windowMs = 2_000;
/** The contract's time to stop asking the cloud (TIM-2). */
const stopMs = 5_000;
/** Limit of cloud calls in a window that no request caused, such as those of a background check. */
const tolerance = 3;

const cloudCallsWithin = async (context: CheckContext, ms: number): Promise<number> => {
  const before = await context.hooks.cloudCalls();
  await wait(ms, undefined, { signal: context.signal });
  return (await context.hooks.cloudCalls()) - before;
};

const counted: readonly Check[] = [
  {
    ...disruptive,
    id: "status.flat",
    title: "a hundred questions for the status are no calls of the cloud",
    rules: ["STA-1"],
    why: "It is polled for ever, by every controller: each call of the cloud it makes is taken from the quota of work.",
    hooks: ["cloudCallCount"],
    run: async (context) => {
      const before = await context.hooks.cloudCalls();
      for (let round = 0; round < 100; round++) await statusOf(context);
      const calls = (await context.hooks.cloudCalls()) - before;
      if (calls > 10) fail({ message: "the status asks the cloud", expected: "no calls", got: `${calls} calls` });
    },
  },
  {
    ...disruptive,
    id: "time.cancel.stops",
    title: "canceled calls stop sending requests to the cloud within 5 s",
    rules: ["TIM-2"],
    why: "A controller that restarts cancels all it has under way; what goes on without it uses the quota up.",
    hooks: ["cloudCallCount"],
    run: async (context) => {
      const usual = await cloudCallsWithin(context, windowMs);
      const calls = Array.from({ length: 20 }, (_, index) =>
        askCloud(context, { signal: AbortSignal.timeout(5 + index) }),
      );
      await Promise.all(calls);
      // A window that ends within the contract's time, as many as there are in it.
      const { done, value } = await lookUntil(
        context,
        async () => {
          const got = await cloudCallsWithin(context, windowMs);
          return { done: got <= usual + tolerance, value: got };
        },
        stopMs,
      );
      if (!done)
        fail({
          message: `the cloud is still asked ${stopMs / 1_000} s after 20 calls were cancelled`,
          expected: `at most ${usual + tolerance} calls within ${windowMs / 1_000} s, as before`,
          got: `${value} calls`,
        });
    },
  },
];

/** What becomes of the cloud's failures, and what must not notice them. */
export const faultChecks: readonly Check[] = [...duringOutage, ...errorChecks, ...others, ...counted];
