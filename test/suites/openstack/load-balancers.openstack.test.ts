import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { at } from "../../support/kube.ts";
import { tcp, udp } from "./replay/scenarios/desired.ts";
import { Balancers } from "./support/balancers.ts";
import { createTenant } from "./support/real-openstack.ts";
import { Sidecar } from "./support/sidecar.ts";
import type { Server, Tenant } from "./support/tenant.ts";

const GONE_MS = 120_000;
const UNLIMITED = -1;
const SERVICES = ["default/web", "default/other"] as const;

const started = new AsyncDisposableStack();
let tenant: Tenant;
let provider: Balancers;
let one: Server;
let two: Server;

beforeAll(async () => {
  tenant = await createTenant(inject("openstack"));
  one = await tenant.createServer("node-1");
  two = await tenant.createServer("node-2");
  provider = new Balancers(started.use(await Sidecar.start(tenant)).client);
});
afterEach(async () => {
  await tenant.limitLoadBalancers(UNLIMITED);
  await tenant.limitFloatingIps(UNLIMITED);
  for (const service of SERVICES) await provider.delete(service);
});
afterAll(() => started.disposeAsync());

const nodesOf = (...servers: readonly Server[]) => servers.map((server) => ({ ...server }));

/** Targets as Octavia has them: address, port and subnet, in order. */
async function targets(): Promise<readonly string[]> {
  const members = await tenant.members();
  return members
    .map(
      ({ address, protocol_port: port, subnet_id: subnet }) => `${String(address)}:${String(port)} ${String(subnet)}`,
    )
    .toSorted();
}

/** What clients of the provider may not see, and Octavia says that it has. */
describe("load balancers of the provider, as Octavia has them", () => {
  test("take times, source ranges and affinity, and are without them again", async () => {
    const web = { nodes: nodesOf(one), ports: [tcp(80), udp(53)] };
    await provider.ensure({
      ...web,
      version: "1",
      annotations: { "timeout-client-data": "60000", "timeout-member-connect": "1000", "connection-limit": "100" },
      more: {
        sourceRanges: { cidrs: ["192.0.2.0/24"] },
        sessionAffinity: { timeout: { seconds: 600n, nanos: 0 } },
      },
    });
    const special = { connection_limit: 100, allowed_cidrs: ["192.0.2.0/24"] };
    const byPort = async () =>
      (await tenant.octavia("listeners")).toSorted(
        (left, right) => Number(left["protocol_port"]) - Number(right["protocol_port"]),
      );
    expect(await byPort()).toMatchObject([
      { protocol: "UDP", ...special },
      { protocol: "TCP", ...special, timeout_client_data: 60_000, timeout_member_connect: 1_000 },
    ]);
    const persistences = async () =>
      (await tenant.octavia("pools")).toSorted((left, right) =>
        String(left["protocol"]) < String(right["protocol"]) ? -1 : 1,
      );
    expect(await persistences()).toMatchObject([
      { protocol: "TCP", session_persistence: { type: "SOURCE_IP" } },
      { protocol: "UDP", session_persistence: { type: "SOURCE_IP", persistence_timeout: 600 } },
    ]);

    await provider.ensure({ ...web, version: "2" });
    const usual = { connection_limit: -1, allowed_cidrs: null };
    expect(await byPort()).toMatchObject([
      { protocol: "UDP", ...usual },
      { protocol: "TCP", ...usual, timeout_client_data: 50_000, timeout_member_connect: 5_000 },
    ]);
    expect(await persistences()).toMatchObject([{ session_persistence: null }, { session_persistence: null }]);
  });

  test("have the nodes as members in their subnet, and follow them", async () => {
    const { subnet } = tenant.parts;
    const service = "default/web";
    await provider.ensure({ nodes: nodesOf(one), ports: [tcp(80)], version: "1" });
    expect(await targets()).toEqual([`${one.address}:30080 ${subnet}`]);
    await provider.updateNodes(service, [one, two]);
    expect(await targets()).toEqual([one, two].map(({ address }) => `${address}:30080 ${subnet}`).toSorted());
    await provider.updateNodes(service, []);
    expect(await targets()).toEqual([]);
  });

  test("have addresses of their own, each behind the floating IP that is reported on the Service", async () => {
    const reported = [
      await provider.ensure({ service: "default/web", nodes: nodesOf(one), ports: [tcp(80)], version: "1" }),
      await provider.ensure({ service: "default/other", nodes: nodesOf(one), ports: [tcp(80)], version: "1" }),
    ];
    const balancers = await tenant.octavia("loadbalancers");
    const own = new Map(balancers.map((balancer) => [balancer["vip_port_id"], balancer["vip_address"]]));
    expect(new Set(own.values()).size).toBe(2);
    const floating = await tenant.floatingIps();
    expect(new Map(floating.map((each) => [each["port_id"], each["fixed_ip_address"]]))).toEqual(own);
    expect(new Set(floating.map((each) => each["floating_ip_address"]))).toEqual(new Set(reported));
  });

  test("are not created beyond the quota, which is reported, and are created when it grows", async () => {
    await tenant.limitLoadBalancers(1);
    await provider.ensure({ service: "default/web", ports: [tcp(80)], version: "1" });
    const other = { service: "default/other", ports: [tcp(80)], version: "1" };
    await expect(provider.ensure(other)).rejects.toMatchObject({ reason: "QUOTA_EXCEEDED" });
    expect(await tenant.octavia("loadbalancers")).toHaveLength(1);
    await tenant.limitLoadBalancers(2);
    await provider.ensure(other);
    expect(await tenant.octavia("loadbalancers")).toHaveLength(2);
  });

  test("report a missing address when there is no floating IP left, and get one when there is", async () => {
    await tenant.limitFloatingIps(0);
    const web = { ports: [tcp(80)], version: "1" };
    await expect(provider.ensure(web)).rejects.toMatchObject({ reason: "QUOTA_EXCEEDED" });
    expect(await tenant.floatingIps()).toEqual([]);
    await tenant.limitFloatingIps(1);
    const address = await provider.ensure(web);
    expect(await tenant.floatingIps()).toMatchObject([{ floating_ip_address: address }]);
    expect(await tenant.octavia("loadbalancers")).toHaveLength(1);
  });

  test("leave nothing behind", async () => {
    const web = { nodes: nodesOf(one, two), ports: [tcp(80), udp(53)], version: "1" };
    await provider.ensure(web);
    expect(await tenant.orphans()).toHaveLength(9);
    await provider.delete("default/web");
    expect(await tenant.orphans()).toEqual([]);
  });

  test("are not taken from someone who has one of the same name", async () => {
    const web = { ports: [tcp(80)], version: "1" };
    await provider.ensure(web);
    const [made] = await tenant.octavia("loadbalancers");
    const path = `/lbaas/loadbalancers/${String(made?.["id"])}`;
    const tags = at(made, "tags");
    await settled(path);
    await tenant.member.ask("octavia", "PUT", path, { loadbalancer: { tags: ["mine"] } });
    await expect(provider.ensure({ ...web, version: "2" })).rejects.toMatchObject({ reason: "NAME_TAKEN" });
    await settled(path);
    await tenant.member.ask("octavia", "PUT", path, { loadbalancer: { tags } });
    await settled(path);
    await provider.ensure({ ...web, version: "2" });
  });
});

async function settled(path: string): Promise<void> {
  await eventually(`${path} to be ACTIVE`, GONE_MS, async () =>
    at(await tenant.member.ask("octavia", "GET", path), "loadbalancer", "provisioning_status") === "ACTIVE"
      ? true
      : undefined,
  );
}
