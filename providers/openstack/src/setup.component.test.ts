import {
  ensureRequest,
  type FakeCloud,
  startFakeCloud,
  startTestProvider,
  type TestProvider,
} from "@cloudwire/provider-sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createOpenStackProvider } from "./provider.ts";

let cloud: FakeCloud;
let provider: TestProvider;
beforeEach(async () => {
  cloud = await startFakeCloud();
  cloud.serve({
    "POST /v3/auth/tokens": () => {
      const catalog = ["compute", "network", "load-balancer"].map((type) => ({
        type,
        endpoints: [{ interface: "public", region_id: "one", url: `${cloud.url}/${type}` }],
      }));
      const expires = new Date(Date.now() + 3_600_000).toISOString();
      const body = { token: { expires_at: expires, project: { id: "project" }, catalog } };
      return { status: 201, headers: { "x-subject-token": "token" }, body };
    },
    "GET /compute/v2.1/servers": () => ({ body: { servers: [] } }),
    "GET /network/v2.0/routers/:id": () => ({
      status: 404,
      body: { NeutronError: { type: "RouterNotFound", message: "Router router-1 could not be found", detail: "" } },
    }),
    "GET /load-balancer/v2.0/lbaas/loadbalancers": () => ({ body: { loadbalancers: [] } }),
    "POST /load-balancer/v2.0/lbaas/loadbalancers": () => ({
      status: 400,
      body: { faultcode: "Client", faultstring: "Subnet subnet-1 not found." },
    }),
  });
  provider = await startTestProvider(
    createOpenStackProvider({
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
      loadBalancers: { vipSubnetId: "subnet-1" },
      routes: { routerId: "router-1", podCidrs: ["10.244.0.0/16"], quota: 30 },
    }),
  );
});
afterEach(async () => {
  await provider.close();
  await cloud.close();
});

const ensure = (annotations: Readonly<Record<string, string>> = {}) =>
  provider.client.ensureLoadBalancer(ensureRequest({ spec: { annotations } }));

describe("a mistake of the operator has its own reason, and the message names the setting", () => {
  test("a subnet that does not exist (case S-8)", async () => {
    const message = expect.stringContaining("Subnet subnet-1 not found.");
    await expect(ensure()).rejects.toMatchObject({ reason: "CLOUD_SETUP_INVALID", message });
    await expect(ensure()).rejects.toThrow("--load-balancer-subnet");
  });

  test("but not a subnet that the Service has chosen (case S-8)", async () => {
    const chosen = ensure({ "loadbalancer.openstack.org/subnet-id": "subnet-9" });
    await expect(chosen).rejects.toMatchObject({ reason: "FIELD_INVALID" });
  });

  test("a router that does not exist (case S-8)", async () => {
    await expect(provider.client.listRoutes({})).rejects.toMatchObject({
      reason: "CLOUD_SETUP_INVALID",
      message: expect.stringContaining("check --router"),
    });
  });
});
