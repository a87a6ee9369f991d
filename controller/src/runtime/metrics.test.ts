import { beforeEach, describe, expect, test } from "vitest";
import { FakeLog } from "../../test/support/fake-log.ts";
import { MemoryTraces } from "../../test/support/memory-traces.ts";
import { capabilities, idleProvider, info } from "../../test/support/provider/provider-builders.ts";
import { routeCapabilities } from "../../test/support/route/route-cloud.ts";
import type { Mode } from "../observe/mode.ts";
import { PlannedOnlyError, doSharedWork, doWork } from "../observe/work.ts";
import { UntrackedWriteError, WriteFilter } from "../observe/write-filter.ts";
import { validateOnlyClient } from "../provider/calls/validate-only.ts";
import type { ChangeOptions, ProviderClient } from "../provider/model/client.ts";
import { contractError } from "../provider/model/errors.ts";
import type { LoadBalancerDeletion, PlannedChange } from "../provider/model/load-balancer.ts";
import type { Route, RouteChanges } from "../provider/model/route.ts";
import { plannedWork, inReconcileSpan } from "./metrics.ts";
import type { Outcome } from "./reconciler.ts";

const error = Object.assign(new Error("no"), { code: "BROKEN" });
const OUTCOMES: readonly (readonly [Outcome, boolean])[] = [
  [{ kind: "success" }, false],
  [{ kind: "requeue_after", delayMs: 1 }, false],
  [{ kind: "error", error }, true],
  [{ kind: "retry_after", error, delayMs: 1 }, false],
  [{ kind: "terminal_error", error }, true],
  [{ kind: "panic", error }, true],
  [{ kind: "aborted" }, false],
];

test.each(OUTCOMES)("inReconcileSpan() shows an outcome as what it is: %j", async (outcome, isError) => {
  const traces = new MemoryTraces();
  const context = {
    key: "default/web",
    priority: "low",
    failures: 2,
    reconcileID: "r-1",
    signal: new AbortController().signal,
    log: new FakeLog(),
  } as const;
  const name = "service-lb-controller";
  expect(await inReconcileSpan(traces.tracing, name, context, () => Promise.resolve(outcome))).toBe(outcome);
  expect(traces.spans).toEqual([
    {
      name: "reconcile service-lb-controller",
      parent: undefined,
      links: [],
      isError,
      attributes: {
        "cloudwire.controller": name,
        "cloudwire.key": "default/web",
        "cloudwire.reconcile_id": "r-1",
        "cloudwire.priority": "low",
        "cloudwire.failures": 2,
        "cloudwire.result": outcome.kind,
        ...(isError ? { "error.type": "BROKEN" } : {}),
      },
    },
  ]);
});

describe("planned work", () => {
  const { signal } = new AbortController();
  const options: ChangeOptions = { signal, requestId: "1", trigger: "service deleted" };
  const ref = { service: { namespace: "shop", name: "web", uid: "u" }, annotations: {} };
  const change: PlannedChange = {
    action: "delete",
    resourceType: "load balancer",
    resourceId: "lb-1",
    summary: "with 2 targets",
  };

  const asked: ChangeOptions[] = [];
  let deletion: LoadBalancerDeletion;
  let routesAnswer: RouteChanges;
  let stopped: unknown;

  beforeEach(() => {
    asked.length = 0;
    stopped = undefined;
    deletion = { done: true, operation: undefined, remaining: [], diagnostics: [], plannedChanges: [] };
    routesAnswer = { outcomes: [], quota: undefined, plannedChanges: [] };
  });

  function route(targetNodeName: string, destinationCidr: string): Route {
    const ids = { id: "", nameHint: "", targetProviderId: `acme://${targetNodeName}` };
    return { ...ids, targetNodeName, destinationCidr, targetAddresses: [], blackhole: false };
  }

  function work(key: string): ReturnType<typeof plannedWork> {
    const stop = (reason: unknown): void => {
      stopped = reason;
    };
    const controller = "service-lb-controller";
    return plannedWork({ controller, key, provider: "acme", reconcileID: "r", version: undefined, stop });
  }

  /** @param canTell whether the provider takes questions */
  function client(canTell: boolean, mode: Mode = "observe"): ProviderClient {
    const declared = info({
      capabilities: {
        loadBalancers: capabilities({ validateOnly: canTell }),
        routes: routeCapabilities({ validateOnly: canTell }),
      },
    });
    const inner: ProviderClient = {
      ...idleProvider("acme", declared).client,
      deleteLoadBalancer: async (_ref, given) => {
        asked.push(given);
        return deletion;
      },
      ensureRoutes: async (_routes, given) => {
        asked.push(given);
        return routesAnswer;
      },
    };
    const filter = new WriteFilter({ process: mode, controllers: new Map(), providers: new Map() });
    return validateOnlyClient(inner, { provider: "acme", filter, capabilities: () => declared.capabilities });
  }

  describe("a change of a load balancer", () => {
    test("goes out as it is where nothing is observed", async () => {
      const answer = await doWork(work("shop/web"), () => client(true, "active").deleteLoadBalancer(ref, options));
      expect([answer, asked]).toEqual([deletion, [options]]);
    });

    test("is asked about, and answered where it would come to nothing", async () => {
      const mine = work("shop/web");
      expect(await doWork(mine, () => client(true).deleteLoadBalancer(ref, options))).toBe(deletion);
      expect(asked).toEqual([{ signal, trigger: "service deleted", validateOnly: true }]);
      expect(mine.outcome({ kind: "success" })).toEqual({ kind: "success" });
    });

    test.each([
      ["something is planned", true, { plannedChanges: [change] }, ["delete load balancer lb-1: with 2 targets"]],
      ["it is not done yet", true, { done: false }, []],
      ["the provider takes no questions", false, {}, []],
    ])("is noted and cuts the reconcile short when %s", async (_why, canTell, parts, changes) => {
      deletion = { ...deletion, ...parts };
      const mine = work("shop/web");
      const call = doWork(mine, () => client(canTell).deleteLoadBalancer(ref, options));
      await expect(call).rejects.toBeInstanceOf(PlannedOnlyError);
      expect(stopped).toBeInstanceOf(PlannedOnlyError);
      expect(asked).toHaveLength(canTell ? 1 : 0);
      expect(mine.outcome({ kind: "aborted" })).toEqual({ kind: "planned" });
      const rpc = { target: "provider", provider: "acme", method: "DeleteLoadBalancer", trigger: "service deleted" };
      expect(mine.writesAt({ kind: "planned" })).toEqual([{ ...rpc, changes, isChecked: canTell }]);
    });

    test("is refused when it is unowned work", async () => {
      await expect(client(true).deleteLoadBalancer(ref, options)).rejects.toBeInstanceOf(UntrackedWriteError);
      expect(asked).toEqual([]);
    });
  });

  describe("a change of routes", () => {
    const routes = [route("a", "10.0.1.0/24"), route("b", "10.0.2.0/24")];
    const failure = contractError("QUOTA_EXCEEDED", "full");
    const shared = (canTell: boolean, a: ReturnType<typeof work>, b: ReturnType<typeof work>): Promise<RouteChanges> =>
      doSharedWork([a, b], () => client(canTell).ensureRoutes(routes, options));

    test("is answered as under way, and each Node hears of its own", async () => {
      const [a, b] = [work("a"), work("b")];
      const { outcomes } = await shared(false, a, b);
      expect(outcomes.map(({ kind }) => kind)).toEqual(["pending", "pending"]);
      expect([a.writesAt({ kind: "success" })?.length, b.writesAt({ kind: "success" })?.length]).toEqual([1, 1]);
      expect(asked).toEqual([]);
      expect(stopped).toBeUndefined();
    });

    test("fails where the provider says that it would", async () => {
      routesAnswer = { ...routesAnswer, outcomes: [{ kind: "failed", error: failure }], plannedChanges: [change] };
      const [a, b] = [work("a"), work("b")];
      const { outcomes } = await shared(true, a, b);
      expect(outcomes.map(({ kind }) => kind)).toEqual(["failed", "pending"]);
      expect(a.writesAt({ kind: "success" })).toEqual([]);
      expect(b.writesAt({ kind: "success" })).toMatchObject([{ changes: ["create route 10.0.2.0/24 to b"] }]);
    });

    test("is answered where it would come to nothing", async () => {
      routesAnswer = { ...routesAnswer, outcomes: routes.map((done) => ({ kind: "done", route: done })) };
      const [a, b] = [work("a"), work("b")];
      expect(await shared(true, a, b)).toBe(routesAnswer);
      expect([a.writesAt({ kind: "success" }), b.writesAt({ kind: "success" })]).toEqual([[], []]);
    });
  });
});
