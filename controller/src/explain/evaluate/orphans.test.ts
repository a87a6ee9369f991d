import { describe, expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeInformer } from "../../../test/support/kube/fake-informer.ts";
import { capabilities, idleProvider, info } from "../../../test/support/provider/provider-builders.ts";
import type { Node } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import type { Listing, ProviderClient } from "../../provider/model/client.ts";
import { contractError } from "../../provider/model/errors.ts";
import type { LoadBalancer } from "../../provider/model/load-balancer.ts";
import type { Provider } from "../../provider/model/provider.ts";
import type { Route, RouteList } from "../../provider/model/route.ts";
import { parseCidr } from "../../util/cidr.ts";
import { Orphans, type Owners, type RouteRules, orphanedLoadBalancers, orphanedRoutes } from "./orphans.ts";

const ROUTES = {
  maxBatchSize: 100,
  maxPageSize: 100,
  blackhole: false,
  targetAddresses: false,
  validateOnly: false,
  ipFamilies: [],
} as const;
const LIST = { maxPageSize: 100, consistentSnapshot: true };

const left: LoadBalancer = {
  id: "lb-1",
  service: { namespace: "shop", name: "old", uid: "uid-old" },
  phase: "active",
  ingress: undefined,
  specFingerprint: "",
  nodesFingerprint: "",
  observedFingerprint: "",
  registeredNodes: undefined,
  conditions: [],
  operation: undefined,
  tags: {},
  lockKey: "",
  unregisteredNodes: [],
  previousObservedFingerprint: "",
};

function balancers(parts: Partial<Listing<LoadBalancer>> = {}): Listing<LoadBalancer> {
  return { items: [left], complete: true, unreachable: [], resumeToken: "", ...parts };
}

/** One that lists load balancers and routes, as far as it is said what. */
function provider(name: string, client: Partial<ProviderClient>, scopeId = "project-1"): Provider {
  const loadBalancers = capabilities({ list: client.listLoadBalancers === undefined ? undefined : LIST });
  const routes = client.listRoutes === undefined ? undefined : ROUTES;
  const idle = idleProvider(name, info({ scopeId, capabilities: { loadBalancers, routes } }));
  return { ...idle, client: { ...idle.client, ...client } };
}

function orphans(...providers: readonly Provider[]) {
  const nodes = new FakeInformer<Node>();
  nodes.set(node("w1"));
  const cidr = parseCidr("10.120.0.0/16");
  return new Orphans({
    nodes,
    services: new FakeInformer<Service>(),
    providers: () => providers,
    routeManagement: () => "active",
    clusterCidrs: () => (cidr === undefined ? [] : [cidr]),
    clock: new FakeClock(),
  });
}

test("lists orphans, once per cloud", async () => {
  const route = { id: "r-1", nameHint: "", targetProviderId: "", targetAddresses: [], blackhole: false };
  const routes: RouteList = {
    routes: [
      { ...route, targetNodeName: "w1", destinationCidr: "10.120.1.0/24" },
      { ...route, id: "r-2", targetNodeName: "w2", destinationCidr: "10.120.2.0/24" },
    ],
    complete: true,
    quota: undefined,
  };
  const client = { listLoadBalancers: async () => balancers(), listRoutes: async () => routes };
  const elsewhere = provider("north", client, "project-2");
  const page = await orphans(provider("east", client), provider("west", client), elsewhere).find();
  expect(page.unreachableProviders).toEqual([]);
  expect(page.orphans.map(({ provider: name, kind, id }) => [name, kind, id])).toEqual([
    ["east", "loadBalancer", "lb-1"],
    ["east", "route", "r-2"],
    ["north", "loadBalancer", "lb-1"],
    ["north", "route", "r-2"],
  ]);
  expect(page.orphans[1]?.message).toContain("deletes it at its next pass");
});

test("says what it could not learn, and lists the rest", async () => {
  const failing = () => Promise.reject(contractError("CLOUD_UNAVAILABLE", "the cloud is down"));
  const partly = async () => balancers({ complete: false, unreachable: ["zone-a"] });
  const page = await orphans(
    idleProvider("silent", undefined),
    provider("plain", {}),
    provider("down", { listLoadBalancers: failing }),
    provider("partly", { listLoadBalancers: partly }, "project-2"),
  ).find();
  expect(page.orphans.map(({ provider: name, id }) => [name, id])).toEqual([["partly", "lb-1"]]);
  expect(page.unreachableProviders).toEqual([
    { provider: "silent", message: "silent is not connected" },
    { provider: "plain", message: "it does not support listing load balancers" },
    { provider: "down", message: "the cloud is down" },
    { provider: "partly", message: "its list of load balancers is not complete; unreachable: zone-a" },
  ]);
});

test("asks once for all who ask at the same time", async () => {
  let calls = 0;
  const listLoadBalancers = async () => {
    calls++;
    return balancers();
  };
  const all = orphans(provider("east", { listLoadBalancers }));
  const [one, other] = await Promise.all([all.find(), all.find()]);
  expect([one === other, calls]).toEqual([true, 1]);
  await all.find();
  expect(calls).toBe(2);
});

describe("orphans", () => {
  const owners: Owners = {
    hasService: (uid) => uid === "uid-web",
    hasServiceNamed: (key) => key === "shop/web",
    hasNode: (name) => name === "w1",
    hasInstance: (providerId) => providerId === "acme://1",
    hasPodCidr: (cidr) => cidr === "10.1.9.0/24",
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
      unregisteredNodes: [],
      previousObservedFingerprint: "",
    };
  }

  function route(parts: Partial<Route>): Route {
    const none = { nameHint: "", targetProviderId: "", targetNodeName: "", targetAddresses: [], blackhole: false };
    return { id: "r-1", destinationCidr: "10.1.0.0/24", ...none, ...parts };
  }

  test("orphanedLoadBalancers() finds load balancers of deleted and of recreated Services", () => {
    const all = [
      loadBalancer("lb-1", "web", "uid-web"),
      loadBalancer("lb-2", "old", "uid-old"),
      loadBalancer("lb-3", "web", "uid-before"),
      loadBalancer("lb-4", "going", "uid-going", "deleting"),
    ];
    const leftAlone = "The controller does not delete it: delete it in the cloud if it is not needed.";
    expect(orphanedLoadBalancers("east", all, owners).map(({ id, owner, message }) => [id, owner, message])).toEqual([
      ["lb-2", "service/shop/old", `No Service has UID uid-old. ${leftAlone}`],
      [
        "lb-3",
        "service/shop/web",
        `No Service has UID uid-before; a new Service with the same name exists. ${leftAlone}`,
      ],
      ["lb-4", "service/shop/going", "It is being deleted in the cloud."],
    ]);
  });

  test("orphanedRoutes() finds those that lead to no Node, and says what becomes of each", () => {
    const all = [
      route({ id: "by-name", targetNodeName: "w1" }),
      route({ id: "by-range", targetNodeName: "w0", destinationCidr: "10.1.9.0/24" }),
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
        "Its destination is 10.1.0.0/24 of a deleted Node. node-route-controller deletes it at its next pass.",
      ],
      [
        "outside",
        "",
        "Its destination is 192.0.2.0/24 of a deleted Node. It is not deleted, because it is not inside --cluster-cidr.",
      ],
    ]);
    const first = (facts: Partial<RouteRules>) =>
      orphanedRoutes("east", all, owners, { ...rules, ...facts })[0]?.message;
    const gone = "Its destination is 10.1.0.0/24 of a deleted Node.";
    expect([first({ management: "off" }), first({ management: "observe" }), first({ complete: false })]).toEqual([
      `${gone} It is not deleted, because node-route-controller does not run.`,
      `${gone} It is not deleted, because node-route-controller is in observe mode (--mode).`,
      `${gone} It is not deleted until the provider's list is complete.`,
    ]);
  });
});
