import { type FakeCloud, startFakeCloud, startTestProvider, type TestProvider } from "@cloudwire/provider-sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createOpenStackProvider } from "../provider.ts";

interface Route {
  readonly destination: string;
  readonly nexthop: string;
}

let cloud: FakeCloud;
let provider: TestProvider;
/** As the router has them, and how many it takes. */
let routes: Route[];
let maxRoutes: number;

const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
const keyOf = ({ destination, nexthop }: Route): string => `${destination}@${nexthop}`;
const refusal = (type: string) => ({ status: 400, body: { NeutronError: { type, message: type, detail: "" } } });

const server = (number: number) => ({
  id: uuid(number),
  name: `node-${number}`,
  status: "ACTIVE",
  addresses: { private: [{ addr: `10.0.0.${number}`, version: 4, "OS-EXT-IPS:type": "fixed" }] },
});

const routesIn = (body: unknown): readonly Route[] => {
  const parsed: unknown = typeof body === "string" ? JSON.parse(body) : body;
  const router: unknown = typeof parsed === "object" && parsed !== null ? Reflect.get(parsed, "router") : undefined;
  const list: unknown = typeof router === "object" && router !== null ? Reflect.get(router, "routes") : [];
  return (Array.isArray(list) ? list : []).map((each: unknown) => {
    const fields = new Map(Object.entries(typeof each === "object" && each !== null ? each : {}));
    return { destination: String(fields.get("destination")), nexthop: String(fields.get("nexthop")) };
  });
};

beforeEach(async () => {
  routes = [];
  maxRoutes = 30;
  cloud = await startFakeCloud();
  cloud.serve({
    "POST /v3/auth/tokens": () => {
      const catalog = ["compute", "network"].map((type) => ({
        type,
        endpoints: [{ interface: "public", region_id: "one", url: `${cloud.url}/${type}` }],
      }));
      const expires = new Date(Date.now() + 3_600_000).toISOString();
      const body = { token: { expires_at: expires, project: { id: "project" }, catalog } };
      return { status: 201, headers: { "x-subject-token": "token" }, body };
    },
    "GET /compute/v2.1/servers": () => ({ body: { servers: [] } }),
    "GET /compute/v2.1/servers/detail": () => ({ body: { servers: [1, 2, 3, 9].map(server) } }),
    "GET /compute/v2.1/servers/:id": ({ params }) => ({ body: { server: server(Number(params["id"]?.slice(-3))) } }),
    "GET /network/v2.0/routers/:id": () => ({ body: { router: { routes, tags: ["cloudwire-cluster-id=home"] } } }),
    // All routes or none, as Neutron does. The router is not connected to the network of 10.0.0.9.
    "PUT /network/v2.0/routers/:id/add_extraroutes": ({ body }) => {
      const added = routesIn(body);
      if (added.some(({ nexthop }) => nexthop === "10.0.0.9")) return refusal("InvalidRoutes");
      const all = new Map([...routes, ...added].map((route) => [keyOf(route), route]));
      if (all.size > maxRoutes) return refusal("RoutesExhausted");
      routes = [...all.values()];
      return { body: {} };
    },
    "PUT /network/v2.0/routers/:id/remove_extraroutes": ({ body }) => {
      const gone = new Set(routesIn(body).map(keyOf));
      routes = routes.filter((route) => !gone.has(keyOf(route)));
      return { body: {} };
    },
  });
  const definition = createOpenStackProvider({
    authUrl: `${cloud.url}/v3`,
    applicationCredentialId: "0".repeat(32),
    readSecret: async () => "word",
    region: "one",
    endpointInterface: "public",
    regionInIds: false,
    internalNetworks: [],
    publicNetworks: [],
    ipFamilies: ["IPv4"],
    watchIntervalMs: 10_000,
    callRate: { cloudCallsPerSecond: 10, burst: 50 },
    routes: { routerId: "router-1", podCidrs: ["10.244.0.0/16"], quota: 30 },
  });
  provider = await startTestProvider(definition, { cluster: { id: "home" } });
});
afterEach(async () => {
  await provider.close();
  await cloud.close();
});

const ensure = async (...wanted: readonly (readonly [cidr: string, machine: number])[]) => {
  const { results } = await provider.client.batchEnsureRoutes({
    routes: wanted.map(([destinationCidr, machine]) => ({
      destinationCidr,
      targetProviderId: `openstack:///${uuid(machine)}`,
    })),
  });
  return results.map(({ outcome }) => (outcome?.$case === "error" ? outcome.value.reason : outcome?.$case));
};

describe("routes of OpenStack", () => {
  test("are made although Neutron refuses one of the batch (case S-10)", async () => {
    expect(await ensure(["10.244.1.0/24", 1], ["10.244.9.0/24", 9], ["10.244.2.0/24", 2])).toEqual([
      "route",
      "CLOUD_SETUP_INVALID",
      "route",
    ]);
    expect(routes.map(keyOf)).toEqual(["10.244.1.0/24@10.0.0.1", "10.244.2.0/24@10.0.0.2"]);
  });

  test("are made as far as the quota permits (case S-10)", async () => {
    maxRoutes = 2;
    expect(await ensure(["10.244.1.0/24", 1], ["10.244.2.0/24", 2], ["10.244.3.0/24", 3])).toEqual([
      "route",
      "route",
      "QUOTA_EXCEEDED",
    ]);
  });

  test("get another target at the quota (case S-3)", async () => {
    maxRoutes = 2;
    await ensure(["10.244.1.0/24", 1], ["10.244.2.0/24", 2]);
    expect(await ensure(["10.244.1.0/24", 3])).toEqual(["route"]);
    expect(routes.map(keyOf).toSorted()).toEqual(["10.244.1.0/24@10.0.0.3", "10.244.2.0/24@10.0.0.2"]);
    expect(await ensure(["10.244.1.0/24", 9])).toEqual(["CLOUD_SETUP_INVALID"]);
    expect(routes.map(keyOf)).toContain("10.244.1.0/24@10.0.0.3");
  });
});
