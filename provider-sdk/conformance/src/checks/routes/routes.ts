import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { CallContext } from "@cloudwire/proto/cloudprovider/v1/common";
import type { Route, RouteResult } from "@cloudwire/proto/cloudprovider/v1/route";
import { isSameInstance } from "@cloudwire/proto/provider-ids";
import type { Check, CheckContext } from "../../suite/check.ts";
import { expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import type { Called } from "../../endpoint/caller.ts";
import { durationMs, pauseMs } from "../../contract/duration.ts";
import { methods } from "../../contract/methods.ts";
import { routesIn } from "../../suite/tagged-resources.ts";

/** Routes cost little, but tables are small: one check at a time. */
export const routeBase = {
  level: "M",
  profile: "routes",
  exclusive: true,
  timeoutMs: 300_000,
  fixtures: ["instance"],
  requires: ["route.create"],
} as const;

/** A route as it is asked for. */
export interface Wanted {
  readonly destinationCidr: string;
  readonly targetProviderId: string;
  readonly targetNodeName: string;
  readonly nameHint: string;
}

/** What a change says of itself. */
interface Change {
  readonly requestId?: string;
  readonly sequence?: bigint;
  readonly validateOnly?: boolean;
}

type Answer = Called<{ readonly results: RouteResult[] }>;

const toMachine = ({ fixtures }: CheckContext, destinationCidr: string, index: number): Wanted => ({
  destinationCidr,
  targetProviderId: fixtures.instance?.providerId ?? "",
  targetNodeName: fixtures.instance?.nodeName ?? "",
  nameHint: `conformance-${index}`,
});

/** Two routes to the configured machine, and what is done with them. */
export class TestRoutes {
  readonly #context: CheckContext;
  readonly #callContext: CheckContext["callContext"];
  readonly wanted: readonly [Wanted, Wanted];

  constructor(context: CheckContext, clusterSuffix = "") {
    const { cluster, scopeId } = context.callContext;
    const [first, second] = context.fixtures.routeCidrs ?? ["192.0.2.16/28", "192.0.2.32/28"];
    this.#context = context;
    this.#callContext = { cluster: { ...cluster, id: cluster.id + clusterSuffix }, scopeId };
    this.wanted = [toMachine(context, first, 1), toMachine(context, second, 2)];
  }

  ensure(routes: readonly Wanted[], change: Change = {}): Promise<readonly RouteResult[]> {
    return this.#settled("BatchEnsureRoutes", () => this.ensureOnce(routes, change));
  }

  ensureOnce(routes: readonly Wanted[], change: Change = {}) {
    return this.#context.caller.call(methods.batchEnsureRoutes, this.#change(routes, change));
  }

  /** Deletes routes as they are listed, or, where they are not, as they are given. */
  async delete(routes: readonly Partial<Wanted>[], change: Change = {}): Promise<readonly RouteResult[]> {
    const listed = await routesIn(this.#context.caller, CallContext.fromPartial(this.#callContext));
    const known = listed.kind === "known" ? listed.routes : [];
    const unwanted = routes.map((route) => {
      const same = known.find(({ destinationCidr }) => destinationCidr === route.destinationCidr);
      return same === undefined ? route : { ...route, id: same.id };
    });
    return this.#settled("BatchDeleteRoutes", () =>
      this.#context.caller.call(methods.batchDeleteRoutes, this.#change(unwanted, change)),
    );
  }

  async list(): Promise<readonly Route[]> {
    const found: Route[] = [];
    let pageToken = "";
    do {
      const request = { context: this.#callContext, pageSize: 0, pageToken };
      const called = await this.#context.caller.call(methods.listRoutes, request);
      const { routes, nextPageToken } = expectOk(called, "ListRoutes fails").response;
      found.push(...routes);
      pageToken = nextPageToken;
    } while (pageToken !== "");
    return found;
  }

  #change(routes: readonly Partial<Wanted>[], change: Change) {
    return {
      context: this.#callContext,
      change: { requestId: randomUUID(), trigger: "conformance", ...change },
      routes: [...routes],
    };
  }

  /** Asks until no item is being worked on. */
  async #settled(name: string, ask: () => Promise<Answer>): Promise<readonly RouteResult[]> {
    for (;;) {
      const { results } = expectOk(await ask(), `${name} fails`).response;
      const pending = results.flatMap(({ outcome }) =>
        outcome?.$case === "operation" ? [pauseMs(durationMs(outcome.value.pollAfter), 1_000)] : [],
      );
      if (pending.length === 0) return results;
      await wait(Math.max(...pending), undefined, { signal: this.#context.signal });
    }
  }
}

export const withRoutes = async (context: CheckContext, use: (routes: TestRoutes) => Promise<void>): Promise<void> => {
  const routes = new TestRoutes(context);
  try {
    await use(routes);
  } finally {
    await routes.delete(routes.wanted).catch(() => undefined);
  }
};

/** Their ranges, in order. */
export const ranges = (routes: readonly { readonly destinationCidr: string }[]): readonly string[] =>
  routes.map(({ destinationCidr }) => destinationCidr).toSorted();

/** What each item came to: its range, or the reason of its error. */
export const outcomes = (results: readonly RouteResult[]): readonly string[] =>
  results.map(({ outcome }) => {
    switch (outcome?.$case) {
      case "route":
        return outcome.value.destinationCidr;
      case "error":
        return outcome.value.reason;
      default:
        return "neither";
    }
  });

/** Fails unless two values look the same. */
export const expectEqual = (message: string, expected: unknown, got: unknown): void => {
  if (show(got) !== show(expected)) fail({ message, expected: show(expected), got: show(got) });
};

/** Routes that are made and removed. */
export const routeChecks: readonly Check[] = [
  {
    ...routeBase,
    requires: [],
    id: "route.create",
    title: "routes that are made are answered in their order, and listed with id and target",
    rules: ["RTE-1", "RTE-7", "BAT-1"],
    why: "Pods of a node without a route are unreachable.",
    run: (context) =>
      withRoutes(context, async (routes) => {
        const { wanted } = routes;
        const results = await routes.ensure(wanted);
        expectEqual(
          "the answer is another",
          wanted.map(({ destinationCidr }) => destinationCidr),
          outcomes(results),
        );
        const listed = await routes.list();
        expectEqual("the list is another", ranges(wanted), ranges(listed));
        expectNone(
          listed.flatMap(({ id, destinationCidr, targetProviderId }) =>
            id !== "" && isSameInstance(targetProviderId, wanted[0].targetProviderId)
              ? []
              : [`${destinationCidr} id "${id}"`],
          ),
          "routes are listed without id or with another target",
        );
      }),
  },
  {
    ...routeBase,
    id: "route.idempotent",
    title: "a route that already matches is success, and stays one route",
    rules: ["RTE-2", "SHAPE-3"],
    why: "Routes are ensured again after every start.",
    run: (context) =>
      withRoutes(context, async (routes) => {
        const { wanted } = routes;
        const expected = wanted.map(({ destinationCidr }) => destinationCidr);
        for (let times = 0; times < 3; times++)
          expectEqual("the answer is another", expected, outcomes(await routes.ensure(wanted)));
        expectEqual("the list is another", ranges(wanted), ranges(await routes.list()));
      }),
  },
  {
    ...routeBase,
    id: "route.unknown-target",
    title: "a route to a machine that is gone is ROUTE_TARGET_NOT_FOUND, and the others are made",
    rules: ["RTE-3", "BAT-1"],
    why: "One node that has just been removed must not hold up the routes of all others.",
    fixtures: ["instance", "absentProviderId"],
    run: (context) =>
      withRoutes(context, async (routes) => {
        const [first, second] = routes.wanted;
        const gone = { ...first, targetProviderId: context.fixtures.absentProviderId ?? "" };
        const expected = ["ROUTE_TARGET_NOT_FOUND", second.destinationCidr];
        expectEqual("the answer is another", expected, outcomes(await routes.ensure([gone, second])));
        expectEqual("the list is another", [second.destinationCidr], ranges(await routes.list()));
      }),
  },
  {
    ...routeBase,
    id: "route.delete",
    title: "routes that were deleted are listed no longer, and the others are",
    rules: ["RTE-2", "RTE-1"],
    why: "A range that was given to another node would lead to the old one.",
    run: (context) =>
      withRoutes(context, async (routes) => {
        const [first, second] = routes.wanted;
        await routes.ensure([first, second]);
        for (let times = 0; times < 2; times++)
          expectEqual("the answer is another", [first.destinationCidr], outcomes(await routes.delete([first])));
        expectEqual("the list is another", [second.destinationCidr], ranges(await routes.list()));
      }),
  },
  {
    ...routeBase,
    id: "route.managed-only",
    title: "another cluster is shown none of them",
    rules: ["RTE-1", "SHAPE-6"],
    why: "What a controller is shown and does not want it deletes.",
    run: (context) =>
      withRoutes(context, async (routes) => {
        await routes.ensure(routes.wanted);
        expectNone(ranges(await new TestRoutes(context, "-other").list()), "another cluster has them", {
          expected: "none",
        });
      }),
  },
];
