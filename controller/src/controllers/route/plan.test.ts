import { describe, expect, test } from "vitest";
import { node as nodeOf } from "../../../test/support/builders.ts";
import { NETWORK_UNAVAILABLE } from "../../api/node.ts";
import {
  ADDRESS,
  input,
  OTHER_ADDRESS,
  type Parts,
  range,
  route,
  ROUTED,
} from "../../../test/support/route/route-plan-builders.ts";
import { type Network, type Plan, type CidrState, isSettled, networkAfter, networkPatch, plan } from "./plan.ts";
import type { KnownRoute } from "./route-table.ts";

/** What a plan does, in words. */
function words({ stale, cidrs }: Plan): readonly string[] {
  return [
    ...stale.map(({ known }) => `remove ${known.route.id}`),
    ...cidrs.map((one) => {
      if (one.kind === "kept") return `keep ${one.cidr}`;
      if (one.kind === "rejected") return `refuse ${one.cidr}: ${one.message}`;
      const first = one.first.map((known) => `remove ${known.route.id}, then `).join("");
      return `${first}make ${one.cidr}`;
    }),
  ];
}

const SAME_AS_B = { rejection: "overlap", message: "node b has the same pod CIDR" } as const;
const X = "10.120.1.0/24";
const Y = "10.120.2.0/24";
const OUTSIDE = "10.121.2.0/24";

describe("plan() of a Node", () => {
  test.each<{ when: string; routes: readonly KnownRoute[]; parts?: Parts; wanted: readonly string[] }>([
    { when: "there is no route", routes: [], wanted: [`make ${X}`] },
    { when: "the route is there", routes: [route(X)], wanted: [`keep ${X}`] },
    {
      when: "the Node writes its range with host bits",
      routes: [route(X)],
      parts: { podCIDRs: ["10.120.1.9/24"] },
      wanted: [`keep ${X}`],
    },
    {
      when: "the route is to the same machine with another prefix",
      routes: [route(X, { target: "old://a" })],
      wanted: [`keep ${X}`],
    },
    {
      when: "the route is to another machine, and neither is written with a prefix",
      routes: [route(X, { target: "b", node: "b" })],
      parts: { providerID: "a" },
      wanted: [`remove id-${X}, then make ${X}`],
    },
    {
      when: "its own route is to a machine written otherwise",
      routes: [route(X, { target: "acme://other-name-of-a" })],
      wanted: [`make ${X}`],
    },
    {
      when: "that was made for this very Node",
      routes: [route(X, { target: "acme://other-name-of-a", madeFor: "acme://a" })],
      wanted: [`keep ${X}`],
    },
    {
      when: "the route is to its machine, written with its zone and in capitals (case N-2)",
      routes: [route(X, { target: "ACME://zone/A", node: "" })],
      wanted: [`keep ${X}`],
    },
    {
      when: "the route is to a machine of another provider with the same ID (case N-2)",
      routes: [route(X, { target: "other://a" })],
      wanted: [`make ${X}`],
    },
    {
      when: "the route is to a machine of no Node: only the provider can compare the IDs (case N-2)",
      routes: [route(X, { target: "acme://other-name-of-a", node: "" })],
      wanted: [`make ${X}`],
    },
    {
      when: "the route has no or another name but leads to its instance",
      routes: [route(X, { node: "b" })],
      wanted: [`keep ${X}`],
    },
    {
      when: "the route is a blackhole",
      routes: [route(X, { blackhole: true })],
      wanted: [`remove id-${X}, then make ${X}`],
    },
    {
      when: "the route has lost its target",
      routes: [route(X, { target: "" })],
      wanted: [`remove id-${X}, then make ${X}`],
    },
    {
      when: "the route is a Node's that no longer needs it",
      routes: [route(X, { node: "b", target: "acme://b" })],
      wanted: [`remove id-${X}, then make ${X}`],
    },
    {
      when: "another live Node has the range and its route",
      routes: [route(X, { node: "b", target: "acme://b" })],
      parts: { claimants: { [`id-${X}`]: "b" }, refusals: { [X]: SAME_AS_B } },
      wanted: [`refuse ${X}: node b has the same pod CIDR`],
    },
    {
      when: "another live Node has a route to the range beside its own",
      routes: [route(X), route(X, { id: "other", node: "b", target: "acme://b" })],
      parts: { claimants: { other: "b" }, refusals: { [X]: SAME_AS_B } },
      wanted: [`keep ${X}`],
    },
    {
      when: "another live Node has one of two routes to the range",
      routes: [route(X, { id: "old", blackhole: true }), route(X, { id: "other", node: "b", target: "acme://b" })],
      parts: { claimants: { other: "b" }, refusals: { [X]: SAME_AS_B } },
      wanted: [`refuse ${X}: node b has the same pod CIDR`],
    },
    {
      when: "a blackhole is there beside the route",
      routes: [route(X), route(X, { id: "old", blackhole: true })],
      wanted: [`remove old, then make ${X}`],
    },
    { when: "it had another range before", routes: [route(X), route(Y)], wanted: [`remove id-${Y}`, `keep ${X}`] },
    {
      when: "another Node has its previous range now, and decides about the route (case N-2)",
      routes: [route(X), route(Y)],
      parts: { claimed: [Y] },
      wanted: [`keep ${X}`],
    },
    { when: "it has no range any more", routes: [route(X)], parts: { podCIDRs: [] }, wanted: [`remove id-${X}`] },
    { when: "its old route lies outside the cluster", routes: [route(OUTSIDE)], parts: { podCIDRs: [] }, wanted: [] },
    {
      when: "a covering route begins inside the cluster",
      routes: [route("10.120.0.0/15")],
      parts: { podCIDRs: [] },
      wanted: [],
    },
    {
      when: "its range is refused (case A-1)",
      routes: [],
      parts: { podCIDRs: [X, OUTSIDE], refusals: { [OUTSIDE]: { rejection: "outside", message: "it is outside" } } },
      wanted: [`make ${X}`, `refuse ${OUTSIDE}: it is outside`],
    },
    {
      when: "a range that would be refused has its route: the route may be in use (case A-1)",
      routes: [route(OUTSIDE)],
      parts: { podCIDRs: [OUTSIDE], refusals: { [OUTSIDE]: { rejection: "outside", message: "it is outside" } } },
      wanted: [`keep ${OUTSIDE}`],
    },
    {
      when: "the list was incomplete",
      routes: [route(X, { blackhole: true }), route(Y)],
      parts: { complete: false },
      wanted: [`make ${X}`],
    },
    { when: "it has no provider ID yet", routes: [route(X), route(Y)], parts: { providerID: "" }, wanted: [] },
    {
      when: "it has two families, of which one is routed",
      routes: [route(X)],
      parts: { podCIDRs: [X, "fd00:0:0:1::/64"] },
      wanted: [`keep ${X}`, "make fd00:0:0:1::/64"],
    },
    {
      when: "the provider does not route a family",
      routes: [route(X)],
      parts: { podCIDRs: [X, "fd00:0:0:1::/64"], capability: { ipFamilies: ["IPv4"] } },
      wanted: [`keep ${X}`, "refuse fd00:0:0:1::/64: the provider does not support IPv6 routes"],
    },
    {
      when: "its range is none",
      routes: [],
      parts: { podCIDRs: ["x"] },
      wanted: ["refuse x: it is not a valid CIDR"],
    },
    {
      when: "the provider cares for addresses, and they are other ones",
      routes: [route(X, { addresses: [{ type: "InternalIP", address: "192.0.2.9" }] })],
      parts: { capability: { targetAddresses: true } },
      wanted: [`make ${X}`],
    },
    {
      when: "the provider cares for addresses, and there is one too many",
      routes: [route(X, { addresses: [ADDRESS, { type: "InternalIP", address: "192.0.2.9" }] })],
      parts: { capability: { targetAddresses: true } },
      wanted: [`make ${X}`],
    },
    {
      when: "the provider cares for addresses, and one of two is another one",
      routes: [route(X, { addresses: [ADDRESS, { type: "InternalIP", address: "192.0.2.9" }] })],
      parts: { capability: { targetAddresses: true }, addresses: [ADDRESS, OTHER_ADDRESS] },
      wanted: [`make ${X}`],
    },
    {
      when: "the provider cares for addresses, and writes the same one differently (case N-2)",
      routes: [route(X, { addresses: [{ type: "InternalIP", address: "2001:DB8:0::1" }] })],
      parts: {
        capability: { targetAddresses: true },
        addresses: [{ type: "InternalIP", address: "2001:db8::1" }],
      },
      wanted: [`keep ${X}`],
    },
    {
      when: "the provider does not say which families it routes",
      routes: [],
      parts: { capability: { ipFamilies: [] } },
      wanted: [`make ${X}`],
    },
    {
      when: "the provider cares for addresses, and they are the same",
      routes: [route(X, { addresses: [ADDRESS] })],
      parts: { capability: { targetAddresses: true } },
      wanted: [`keep ${X}`],
    },
  ])("when $when", ({ routes, parts, wanted }) => {
    expect(words(plan(input(routes, parts)))).toEqual(wanted);
  });

  test("asks for a route with a name of its own a range, and with addresses only where they count", () => {
    const parts = { podCIDRs: [X, "fd00:0:0:1::/64"] };
    const made = { id: "", targetProviderId: "acme://a", targetNodeName: "a", blackhole: false };
    const without = plan(input([], parts)).cidrs;
    expect(without.map((one) => one.kind === "create" && one.route)).toEqual([
      { ...made, nameHint: "uid-a", destinationCidr: X, targetAddresses: [] },
      { ...made, nameHint: "uid-a-1", destinationCidr: "fd00:0:0:1::/64", targetAddresses: [] },
    ]);
    const [first] = plan(input([], { capability: { targetAddresses: true } })).cidrs;
    expect(first?.kind === "create" && first.route.targetAddresses).toEqual([ADDRESS]);
  });
});

describe("plan() of a Node that is gone", () => {
  test.each([
    { when: "they are inside the cluster", cidr: X, complete: true, removed: 1 },
    { when: "they are outside the cluster", cidr: OUTSIDE, complete: true, removed: 0 },
    { when: "the list was incomplete", cidr: X, complete: false, removed: 0 },
  ])("removes $removed of its routes when $when", ({ cidr, complete, removed }) => {
    const routes = [{ provider: "acme", known: route(cidr), complete }];
    const decided = plan({ kind: "gone", routes, rules: { clusterCidrs: [range("10.120.0.0/16")] } });
    expect(decided).toEqual({
      node: undefined,
      provider: "",
      cidrs: [],
      stale: routes.slice(0, removed).map(({ provider, known }) => ({ provider, known })),
    });
  });
});

describe("networkAfter()", () => {
  test.each<{ states: readonly CidrState[]; stale: number; wanted: string | undefined }>([
    { states: [], stale: 0, wanted: undefined },
    { states: [], stale: 1, wanted: "unrouted" },
    { states: ["routed"], stale: 1, wanted: "routed" },
    { states: ["routed", "unrouted"], stale: 0, wanted: "unrouted" },
    { states: ["routed", "pending"], stale: 0, wanted: undefined },
    { states: ["unrouted", "pending"], stale: 0, wanted: "unrouted" },
  ])("says $wanted after $states with $stale stale routes", ({ states, stale, wanted }) => {
    const gone = Array.from({ length: stale }, () => ({ provider: "acme", known: route(Y) }));
    expect(networkAfter({ stale: gone }, states)).toBe(wanted);
  });
});

describe("isSettled()", () => {
  test.each<{ when: string; routes: readonly KnownRoute[]; parts: Parts; wanted: boolean }>([
    { when: "route and condition are there", routes: [route(X)], parts: { conditions: [ROUTED] }, wanted: true },
    { when: "the condition is missing", routes: [route(X)], parts: {}, wanted: false },
    {
      when: "another's reason is there",
      routes: [route(X)],
      parts: { conditions: [{ ...ROUTED, reason: "CalicoIsUp" }] },
      wanted: false,
    },
    { when: "the route is missing", routes: [], parts: { conditions: [ROUTED] }, wanted: false },
    { when: "a route is too much", routes: [route(X), route(Y)], parts: { conditions: [ROUTED] }, wanted: false },
    { when: "there are neither cidrs nor routes", routes: [], parts: { podCIDRs: [] }, wanted: true },
    {
      when: "what is refused is said",
      routes: [],
      parts: { podCIDRs: ["x"], conditions: [{ ...ROUTED, status: "True", reason: "NoRouteCreated" }] },
      wanted: true,
    },
  ])("is $wanted when $when", ({ routes, parts, wanted }) => {
    expect(isSettled(plan(input(routes, parts)))).toBe(wanted);
  });
});

describe("network condition", () => {
  const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0, 789);

  function patched(network: Network, said: readonly (readonly [string, string])[]) {
    const conditions = said.map(([status, reason]) => ({
      type: NETWORK_UNAVAILABLE,
      status,
      reason,
      lastTransitionTimeMs: 0,
    }));
    return networkPatch(nodeOf("a", { status: { conditions } }), network, NOW_MS);
  }

  describe("networkPatch()", () => {
    test.each<{ network: Network; said: readonly (readonly [string, string])[]; wanted: object | undefined }>([
      {
        network: "routed",
        said: [],
        wanted: { status: "False", reason: "RouteCreated", message: "RouteController created a route" },
      },
      { network: "routed", said: [["False", "RouteCreated"]], wanted: undefined },
      {
        network: "routed",
        said: [["False", "CalicoIsUp"]],
        wanted: { status: "False", reason: "RouteCreated", message: "RouteController created a route" },
      },
      {
        network: "routed",
        said: [["True", "RouteCreated"]],
        wanted: { status: "False", reason: "RouteCreated", message: "RouteController created a route" },
      },
      {
        network: "unrouted",
        said: [],
        wanted: { status: "True", reason: "NoRouteCreated", message: "RouteController failed to create a route" },
      },
      { network: "unrouted", said: [["True", "NoRouteCreated"]], wanted: undefined },
      { network: undefined, said: [], wanted: undefined },
      { network: undefined, said: [["True", "NoRouteCreated"]], wanted: undefined },
    ])("writes $wanted for $network after $said", ({ network, said, wanted }) => {
      const times = { lastHeartbeatTime: "2026-11-21T12:00:00Z", lastTransitionTime: "2026-11-21T12:00:00Z" };
      expect(patched(network, said)).toEqual(
        wanted && {
          metadata: { uid: "uid-a" },
          status: { conditions: [{ type: "NetworkUnavailable", ...wanted, ...times }] },
        },
      );
    });
  });
});
