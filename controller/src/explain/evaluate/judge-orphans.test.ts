import { expect, test } from "vitest";
import type { LoadBalancer } from "../../provider/model/load-balancer.ts";
import type { Route } from "../../provider/model/route.ts";
import { orphanedLoadBalancers, orphanedRoutes, type Owners, type RouteRules } from "./judge-orphans.ts";

const owners: Owners = {
  hasService: (uid) => uid === "uid-web",
  hasServiceNamed: (key) => key === "shop/web",
  hasNode: (name) => name === "w1",
  hasMachine: (providerId) => providerId === "acme://1",
};

function loadBalancer(id: string, name: string, uid: string, phase: LoadBalancer["phase"] = "active"): LoadBalancer {
  return {
    id,
    service: { namespace: "shop", name, uid },
    phase,
    ingress: undefined,
    specFingerprint: "",
    nodesFingerprint: "",
    observedFingerprint: "",
    registeredNodes: undefined,
    conditions: [],
    operation: undefined,
    tags: {},
    lockKey: "",
  };
}

function route(parts: Partial<Route>): Route {
  const none = { nameHint: "", targetProviderId: "", targetNodeName: "", targetAddresses: [], blackhole: false };
  return { id: "r-1", destinationCidr: "10.1.0.0/24", ...none, ...parts };
}

test("orphanedLoadBalancers() finds those whose Service is no more, also one that was made anew", () => {
  const all = [
    loadBalancer("lb-1", "web", "uid-web"),
    loadBalancer("lb-2", "old", "uid-old"),
    loadBalancer("lb-3", "web", "uid-before"),
    loadBalancer("lb-4", "going", "uid-going", "deleting"),
  ];
  const leftAlone = "It is left alone: delete it at the cloud if nobody needs it.";
  expect(orphanedLoadBalancers("east", all, owners).map(({ id, owner, message }) => [id, owner, message])).toEqual([
    ["lb-2", "service/shop/old", `No Service has UID uid-old. ${leftAlone}`],
    [
      "lb-3",
      "service/shop/web",
      `No Service has UID uid-before; the one of that name was made anew and is another one. ${leftAlone}`,
    ],
    ["lb-4", "service/shop/going", "It is being taken down at the cloud."],
  ]);
});

test("orphanedRoutes() finds those that lead to no Node, and says what becomes of each", () => {
  const all = [
    route({ id: "by-name", targetNodeName: "w1" }),
    route({ id: "by-machine", targetNodeName: "w0", targetProviderId: "acme://1" }),
    route({ id: "", targetNodeName: "w2" }),
    route({ id: "outside", destinationCidr: "192.0.2.0/24" }),
  ];
  const managed = { management: "active", complete: true } as const;
  const rules = { ...managed, isDeletable: ({ destinationCidr }: Route) => destinationCidr.startsWith("10.") };
  expect(orphanedRoutes("east", all, owners, rules).map(({ id, owner, message }) => [id, owner, message])).toEqual([
    [
      "10.1.0.0/24",
      "node/w2",
      "It leads to 10.1.0.0/24 of a Node that is no more. node-route-controller removes it at its next pass.",
    ],
    [
      "outside",
      "",
      "It leads to 192.0.2.0/24 of a Node that is no more. It is left alone, for it does not lie inside --cluster-cidr.",
    ],
  ]);
  const first = (facts: Partial<RouteRules>) => orphanedRoutes("east", all, owners, { ...rules, ...facts })[0]?.message;
  const gone = "It leads to 10.1.0.0/24 of a Node that is no more.";
  expect([first({ management: "off" }), first({ management: "observe" }), first({ complete: false })]).toEqual([
    `${gone} It is left alone, for node-route-controller does not run here.`,
    `${gone} It is left alone, for node-route-controller only observes here (--mode).`,
    `${gone} It is left alone until the provider's list is complete.`,
  ]);
});
