import { expect, test } from "vitest";
import { node } from "../../../test/support/builders.ts";
import { FakeClock } from "../../../test/support/fake-clock.ts";
import { FakeInformer } from "../../../test/support/fake-informer.ts";
import { capabilities, idleProvider, info } from "../../../test/support/provider-builders.ts";
import type { Node } from "../../api/node.ts";
import type { Service } from "../../api/service.ts";
import type { Listing, ProviderClient } from "../../provider/model/client.ts";
import { contractError } from "../../provider/model/errors.ts";
import type { LoadBalancer } from "../../provider/model/load-balancer.ts";
import type { Provider } from "../../provider/model/provider.ts";
import type { RouteList } from "../../provider/model/route.ts";
import { parseCidr } from "../../util/cidr.ts";
import { Orphans } from "./orphans.ts";

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

test("lists what belongs to nobody, of each cloud once", async () => {
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
  expect(page.unknown).toEqual([]);
  expect(page.orphans.map(({ provider: name, kind, id }) => [name, kind, id])).toEqual([
    ["east", "loadBalancer", "lb-1"],
    ["east", "route", "r-2"],
    ["north", "loadBalancer", "lb-1"],
    ["north", "route", "r-2"],
  ]);
  expect(page.orphans[1]?.message).toContain("removes it at its next pass");
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
  expect(page.unknown).toEqual([
    { provider: "silent", message: "silent is not connected" },
    { provider: "plain", message: "it offers no list of load balancers" },
    { provider: "down", message: "the cloud is down" },
    { provider: "partly", message: "its list of load balancers is not complete; not reached: zone-a" },
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
