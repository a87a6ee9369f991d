import { isSameInstance } from "@cloudwire/proto/provider-ids";
import { type Check, type CheckContext, CheckSkipped } from "../../suite/check.ts";
import { errorProblem, expectNone, expectOk, fail, show } from "../../suite/expect.ts";
import { isClaimed } from "../../contract/capabilities.ts";
import { outcomeLine } from "../../endpoint/exchange.ts";
import { methods } from "../../contract/methods.ts";
import { sampleRequest } from "../../contract/samples.ts";
import { expectEqual, outcomes, ranges, routeBase, TestRoutes, type Wanted, withRoutes } from "./routes.ts";

const two = { ...routeBase, fixtures: ["instance", "otherInstance"] } as const;
const questions = "routes.validate_only";

const toOther = ({ fixtures }: CheckContext, route: Wanted): Wanted => ({
  ...route,
  targetProviderId: fixtures.otherInstance?.providerId ?? "",
  targetNodeName: fixtures.otherInstance?.nodeName ?? "",
});

/** Routes of another cluster, and their end. */
const withOther = async (context: CheckContext, use: (other: TestRoutes) => Promise<void>): Promise<void> => {
  const other = new TestRoutes(context, "-other");
  try {
    await use(other);
  } finally {
    await other.delete(other.wanted).catch(() => undefined);
  }
};

/** Range and target of each route; `known` has the forms of provider IDs to show. */
const targets = async (routes: TestRoutes, known: string): Promise<readonly string[]> =>
  (await routes.list()).map(({ destinationCidr, targetProviderId }) => {
    const target = isSameInstance(known, targetProviderId) ? known : targetProviderId;
    return `${destinationCidr} to ${target}`;
  });

const owning: readonly Check[] = [
  {
    ...two,
    id: "route.conflict",
    title: "a range that leads to a machine of another cluster is CIDR_CONFLICT, and stays as it is",
    rules: ["RTE-3", "SHAPE-6"],
    why: "Pods of two clusters would take each other's packets.",
    run: (context) =>
      withRoutes(context, (routes) =>
        withOther(context, async (other) => {
          const [route, free] = routes.wanted;
          const theirs = toOther(context, route);
          await other.ensure([theirs]);
          const [conflict, rest] = outcomes(await routes.ensure([route, free]));
          // A table that takes the routes of one cluster alone does not take the free range either.
          const expected = rest === "OWNED_BY_ANOTHER_CLUSTER" ? rest : free.destinationCidr;
          expectEqual("the answer is another", ["CIDR_CONFLICT", expected], [conflict, rest]);
          const kept = [`${theirs.destinationCidr} to ${theirs.targetProviderId}`];
          expectEqual("the other cluster's route is another", kept, await targets(other, theirs.targetProviderId));
        }),
      ),
  },
  {
    ...two,
    id: "route.retarget",
    title: "this cluster's own route to another instance is updated to the requested one",
    rules: ["SHAPE-3", "RTE-3", "RTE-6"],
    why: "A range that was given to a new node would lead to the old one for ever.",
    run: (context) =>
      withRoutes(context, async (routes) => {
        const [route] = routes.wanted;
        await routes.ensure([route]);
        const moved = toOther(context, route);
        expectEqual("the answer is another", [route.destinationCidr], outcomes(await routes.ensure([moved])));
        const expected = [`${route.destinationCidr} to ${moved.targetProviderId}`];
        expectEqual("the list is another", expected, await targets(routes, moved.targetProviderId));
      }),
  },
  {
    ...routeBase,
    id: "route.delete.foreign",
    title: "a deletion leaves another cluster's route where it is",
    rules: ["RTE-1", "SHAPE-6"],
    why: "A cluster that was copied would cut the first one's pods off.",
    run: (context) =>
      withOther(context, async (other) => {
        const [route] = other.wanted;
        await other.ensure([route]);
        const [came = ""] = outcomes(await new TestRoutes(context).delete([route]));
        // A provider with a route table per cluster has nothing to delete.
        if (came !== "OWNED_BY_ANOTHER_CLUSTER" && came !== route.destinationCidr)
          fail({ message: "the answer is another", expected: "OWNED_BY_ANOTHER_CLUSTER", got: came });
        expectEqual("the other cluster's route is gone", [route.destinationCidr], ranges(await other.list()));
      }),
  },
  {
    ...routeBase,
    id: "route.delete.by-range",
    title: "a route whose machine is gone, listed without target, is deleted as it was listed",
    rules: ["RTE-2", "RTE-4"],
    why: "Nothing else would ever remove it: the table fills up with ranges that lead nowhere.",
    run: (context) =>
      withRoutes(context, async (routes) => {
        const [route] = routes.wanted;
        await routes.ensure([route]);
        const results = await routes.delete([{ destinationCidr: route.destinationCidr }]);
        expectEqual("the answer is another", [route.destinationCidr], outcomes(results));
        expectEqual("the list is another", [], ranges(await routes.list()));
      }),
  },
];

const changing: readonly Check[] = [
  {
    ...routeBase,
    id: "route.stale",
    title: "a route with a smaller sequence is refused with STALE_GENERATION, and the others are made",
    rules: ["LB-5", "BAT-1"],
    why: "A controller that was replaced and does not know yet would bring back what its successor has removed.",
    run: (context) =>
      withRoutes(context, async (routes) => {
        const [first, second] = routes.wanted;
        await routes.ensure([first], { sequence: 20n });
        await routes.delete([first], { sequence: 21n });
        const results = await routes.ensure([first, second], { sequence: 10n });
        expectEqual("the answer is another", ["STALE_GENERATION", second.destinationCidr], outcomes(results));
        expectEqual("the list is another", [second.destinationCidr], ranges(await routes.list()));
      }),
  },
  {
    ...routeBase,
    id: "route.request-id",
    title: "a request_id of routes that comes again is answered, not refused",
    rules: ["RPC-1"],
    why: "Responses get lost; a retry must not fail because it is a retry.",
    run: (context) =>
      withRoutes(context, async (routes) => {
        const expected = routes.wanted.map(({ destinationCidr }) => destinationCidr);
        for (let times = 0; times < 3; times++) {
          const results = await routes.ensure(routes.wanted, { requestId: "conformance-routes-again" });
          expectEqual("the answer is another", expected, outcomes(results));
        }
      }),
  },
  {
    ...routeBase,
    id: "route.quota",
    title: "the reported quota matches the contents of the table",
    rules: ["RTE-5"],
    why: "It warns the operator before pods of a new node become unreachable.",
    run: (context) =>
      withRoutes(context, async (routes) => {
        await routes.ensure(routes.wanted);
        const request = { context: context.callContext, pageSize: 0, pageToken: "" };
        const { quota } = expectOk(await context.caller.call(methods.listRoutes, request), "ListRoutes fails").response;
        if (quota === undefined) throw new CheckSkipped("this cloud does not report how full the table is");
        if (quota.limit < quota.used || quota.used < routes.wanted.length)
          fail({ message: "the numbers cannot be", expected: "2 or more used, and room for them", got: show(quota) });
      }),
  },
  {
    ...routeBase,
    id: "route.ipv6",
    title: "an IPv6 range is routed where IPv6 is declared, and refused where it is not",
    rules: ["LIM-1", "LST-5"],
    why: "A range that is written another way in the list looks like one that is missing.",
    run: (context) =>
      withRoutes(context, async (routes) => {
        const route = { ...routes.wanted[0], destinationCidr: "2001:db8:c0f0::/64" };
        if (isClaimed(context.info.capabilities, "routes.ip_families.IP_FAMILY_IPV6")) {
          try {
            expectEqual("the answer is another", [route.destinationCidr], outcomes(await routes.ensure([route])));
            expectEqual("the list is another", [route.destinationCidr], ranges(await routes.list()));
          } finally {
            await routes.delete([route]);
          }
          return;
        }
        const called = await routes.ensureOnce([route]);
        const refused = called.kind === "error" && errorProblem(called.error, { codes: [3] }) === undefined;
        const item = called.kind === "ok" ? called.response.results[0]?.outcome : undefined;
        if (!refused && item?.$case !== "error")
          fail({ message: "it is not refused", got: outcomeLine(called), exchange: called.exchange });
      }),
  },
];

const asking: readonly Check[] = [
  {
    ...routeBase,
    id: "route.validate.no-effect",
    title: "validate_only creates and deletes no routes, and reports what would change",
    rules: ["RPC-3"],
    why: "Who asks what would happen does not want it to happen.",
    capability: questions,
    run: (context) =>
      withRoutes(context, async (routes) => {
        const [route] = routes.wanted;
        const only = { validateOnly: true };
        const called = await routes.ensureOnce([route], only);
        const { plannedChanges } = expectOk(called, "a question about a route").response;
        if (plannedChanges.length === 0) fail({ message: "the plan does not report what would change" });
        expectEqual("it was made", [], ranges(await routes.list()));
        await routes.ensure([route]);
        await routes.delete([route], only);
        expectEqual("it was deleted", [route.destinationCidr], ranges(await routes.list()));
      }),
  },
  {
    ...routeBase,
    id: "route.validate.same-errors",
    title: "validate_only fails for the routes for which the real call fails",
    rules: ["RPC-3"],
    why: "A dry run must report the errors that the change would meet.",
    capability: questions,
    fixtures: ["instance", "absentProviderId"],
    run: (context) =>
      withRoutes(context, async (routes) => {
        const [first, second] = routes.wanted;
        const gone = { ...first, targetProviderId: context.fixtures.absentProviderId ?? "" };
        const asked = outcomes(await routes.ensure([gone, second], { validateOnly: true }));
        expectEqual("the real call answers something else", asked, outcomes(await routes.ensure([gone, second])));
      }),
  },
];

/** Why a wrong route was not refused; undefined: it was, as a whole or alone. */
const notRefused = async (context: CheckContext, what: string, field: string, more: object) => {
  const sample = methods.batchEnsureRoutes.requestType.fromPartial(sampleRequest("BatchEnsureRoutes", context));
  const routes = sample.routes.map((route) => ({ ...route, ...more }));
  const called = await context.caller.call(methods.batchEnsureRoutes, { ...sample, routes });
  if (called.kind === "error")
    return called.error.code === 3 && called.error.fields.some((path) => path.endsWith(field))
      ? undefined
      : `${what}: ${outcomeLine(called)}; fields ${called.error.fields.join(", ")}`;
  const item = called.kind === "ok" ? called.response.results[0]?.outcome : undefined;
  return item?.$case === "error" && item.value.code === 3 ? undefined : `${what}: ${outcomeLine(called)}`;
};

const refusing: readonly Check[] = [
  {
    level: "S",
    profile: "routes",
    capability: questions,
    id: "route.bad-cidr",
    title: "a range with host bits, or that is none, is refused",
    rules: ["LIM-1", "ERR-5"],
    why: "What the cloud makes of it is another range, which is never found again.",
    run: async (context) => {
      const bad = ["192.0.2.1/28", "192.0.2.0/33", "192.0.2.0", "2001:db8::1/64", "everywhere"];
      const problems: string[] = [];
      for (const destinationCidr of bad) {
        const problem = await notRefused(context, destinationCidr, "destination_cidr", { destinationCidr });
        if (problem !== undefined) problems.push(problem);
      }
      expectNone(problems, "ranges are not refused");
    },
  },
  {
    level: "S",
    profile: "routes",
    capability: questions,
    id: "route.no-target",
    title: "a route without target is refused",
    rules: ["LIM-1", "ERR-5"],
    why: "A route that leads nowhere drops the packets of a node that is there.",
    run: async (context) => {
      const problem = await notRefused(context, "no target", "target_provider_id", { targetProviderId: "" });
      if (problem !== undefined) fail({ message: "it is not refused", got: problem });
    },
  },
];

/** Whose routes are whose, how changes of them are ordered, and what is refused. */
export const routeOwnershipChecks: readonly Check[] = [...owning, ...changing, ...asking, ...refusing];
