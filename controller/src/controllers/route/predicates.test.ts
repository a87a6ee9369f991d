import { describe, expect, test } from "vitest";
import { node as nodeOf, type NodeParts } from "../../../test/support/builders.ts";
import type { NodeConditionType } from "../../api/node.ts";
import { changesNetworkCondition, changesRoutes } from "./predicates.ts";

const A = "10.120.1.0/24";
const condition = (type: NodeConditionType, status: string, reason: string, lastTransitionTimeMs = 0) => ({
  type,
  status,
  reason,
  lastTransitionTimeMs,
});

describe("changesRoutes()", () => {
  test.each<{ what: string; parts: NodeParts; wanted: boolean }>([
    { what: "nothing", parts: {}, wanted: false },
    { what: "a heartbeat", parts: { metadata: { resourceVersion: "2" } }, wanted: false },
    { what: "a label", parts: { metadata: { labels: { a: "b" } } }, wanted: false },
    { what: "a condition", parts: { status: { conditions: [condition("Ready", "False", "x")] } }, wanted: false },
    { what: "another node of that name", parts: { metadata: { uid: "other" } }, wanted: true },
    { what: "the provider ID", parts: { spec: { podCIDRs: [A], providerID: "acme://b" } }, wanted: true },
    { what: "the ranges", parts: { spec: { podCIDRs: [], providerID: "acme://a" } }, wanted: true },
    {
      what: "the addresses",
      parts: { status: { addresses: [{ type: "InternalIP", address: "192.0.2.1" }] } },
      wanted: true,
    },
  ])("is $wanted for $what", ({ parts, wanted }) => {
    const spec = { podCIDRs: [A], providerID: "acme://a" };
    expect(changesRoutes(nodeOf("a", { spec }), nodeOf("a", { spec, ...parts }))).toBe(wanted);
  });
});

describe("changesNetworkCondition()", () => {
  const routed = condition("NetworkUnavailable", "False", "RouteCreated");
  test.each([
    { what: "nothing", after: [routed], wanted: false },
    { what: "another condition", after: [routed, condition("Ready", "False", "x")], wanted: false },
    { what: "another condition before it", after: [condition("Ready", "False", "x"), routed], wanted: false },
    { what: "its time alone", after: [{ ...routed, lastTransitionTimeMs: 5 }], wanted: false },
    { what: "its status", after: [{ ...routed, status: "True" }], wanted: true },
    { what: "its reason", after: [{ ...routed, reason: "CalicoIsUp" }], wanted: true },
    { what: "its absence", after: [], wanted: true },
  ])("is $wanted for $what", ({ after, wanted }) => {
    const [old, node] = [
      nodeOf("a", { status: { conditions: [routed] } }),
      nodeOf("a", { status: { conditions: after } }),
    ];
    expect([changesNetworkCondition(old, node), changesNetworkCondition(node, old)]).toEqual([wanted, wanted]);
  });
});
