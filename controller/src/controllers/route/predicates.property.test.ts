import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyNode } from "../../../test/support/node/node-arbitraries.ts";
import { breaksIgnoring, breaksSplitting, breaksSymmetry } from "../../../test/support/predicate-properties.ts";
import { routeCapabilities } from "../../../test/support/route/route-cloud.ts";
import type { Node } from "../../api/node.ts";
import { parseCidr } from "../../util/cidr.ts";
import { deepEqual } from "../../util/equal.ts";
import { isSettled, type Plan, plan } from "./plan.ts";
import { changesNetworkCondition, changesRoutes } from "./predicates.ts";
import type { KnownRoute } from "./route-table.ts";

const RUNS = { numRuns: 1000 };

/** A change that this controller hears of. */
const changes = (old: Node, node: Node): boolean => changesRoutes(old, node) || changesNetworkCondition(old, node);

function route(cidrText: string, targetProviderId: string): KnownRoute {
  const cidr = parseCidr(cidrText);
  if (cidr === undefined) throw new Error(cidrText);
  const rest = { nameHint: "", targetAddresses: [], blackhole: false };
  const nodeName = "a";
  return {
    cidr,
    nodeName,
    madeFor: "",
    route: { id: cidrText, targetProviderId, targetNodeName: nodeName, destinationCidr: cidrText, ...rest },
  };
}

const ROUTES = [route("10.120.1.0/24", "acme://a"), route("10.120.2.0/24", "acme://b")];
const RULES = { clusterCidrs: [parseCidr("10.120.0.0/16")].filter((cidr) => cidr !== undefined) };

/** What is to be done about the Node while cloud and other Nodes stand still. */
function planOf(node: Node): Plan {
  return plan({
    kind: "node",
    node,
    provider: "acme",
    target: {
      prefixes: ["acme://"],
      addresses: node.status.addresses,
      capability: routeCapabilities({ targetAddresses: true }),
    },
    rules: RULES,
    complete: true,
    own: ROUTES,
    to: ({ text }) => ROUTES.filter(({ cidr }) => cidr.text === text),
    claimant: () => undefined,
    isOthers: () => false,
    refuse: () => undefined,
  });
}

describe("changes of a Node that node-route hears of", () => {
  test("are none in what its routes do not depend on", () => {
    const parts = ["version", "deletion", "labels", "annotations", "unschedulable", "taints", "nodeInfo"] as const;
    expect(breaksIgnoring(changes, parts)).toBeNull();
  });

  test("are all after which something else is to be done or said", () => {
    let different = 0;
    fc.assert(
      fc.property(anyNode, anyNode, (old, node) => {
        const [before, after] = [planOf(old), planOf(node)];
        const isSame = isSettled(before) === isSettled(after) && deepEqual(before, { ...after, node: before.node });
        different += isSame ? 0 : 1;
        expect(isSame || changes(old, node)).toBe(true);
      }),
      RUNS,
    );
    expect(different).toBeGreaterThan(100);
  });

  test("are the same in either direction", () => {
    expect(breaksSymmetry(changes)).toBeNull();
  });

  test("are not lost when reported in two steps", () => {
    expect(breaksSplitting(changes)).toBeNull();
  });
});
