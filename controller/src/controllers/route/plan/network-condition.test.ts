import { describe, expect, test } from "vitest";
import { node as nodeOf } from "../../../../test/support/builders.ts";
import { NETWORK_UNAVAILABLE } from "../../../api/node.ts";
import { type Network, networkPatch } from "./network-condition.ts";

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
