import { LoadBalancerPhase } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { serviceRef } from "@cloudwire/provider-sdk/testing";
import { expect } from "vitest";
import type { Fact } from "../recording.ts";
import type { Scenario, Stage } from "../stage.ts";
import { deleteServer, makeServer } from "./fixtures.ts";
import { deleted, ensure, tcp, udp, updateNodes, type DesiredLoadBalancer } from "./desired.ts";

/** Method and collection of each write: `POST pools`. */
const kinds = (writes: readonly string[]): readonly string[] =>
  writes.map((write) => write.replace(/^(\w+) \/[a-z-]+\/v2\.0\/(?:lbaas\/)?(\w+)(?:\/[0-9a-f-]{36})?/, "$1 $2"));

/** Ensures the load balancer and returns its writes. */
async function ensured(stage: Stage, desired: DesiredLoadBalancer): Promise<readonly string[]> {
  expect(await ensure(stage, desired)).toMatchObject({
    phase: LoadBalancerPhase.ACTIVE,
    specFingerprint: `spec-${desired.version}`,
    registeredNodes: desired.nodes?.length ?? 0,
  });
  return kinds(stage.writes());
}

const env = ({ subnet = "" }: Fact) => ({ CLOUDWIRE_OPENSTACK_LOAD_BALANCER_SUBNET: subnet });

/** Writes for a port before its listener. */
const newPool = ["POST pools", "PUT pools/members", "POST healthmonitors"] as const;

const made = (ports: number): readonly string[] => [
  "POST loadbalancers",
  ...Array.from({ length: ports }, () => [...newPool, "POST listeners"]).flat(),
  "PUT loadbalancers",
];

/** The lifecycle of a load balancer with all changes of ports and nodes. */
export const loadBalancer: Scenario = {
  name: "load-balancer",
  env,
  play: async (stage) => {
    const { client } = stage;
    const one = await stage.fact("one", (tenant) => makeServer(tenant, "node-1"), deleteServer);
    const two = await stage.fact("two", (tenant) => makeServer(tenant, "node-2"), deleteServer);
    const nodes = [one, two];
    const web = { nodes, ports: [tcp(80), udp(53)] };

    stage.begin("not there");
    const { outcome } = await client.getLoadBalancer({ service: serviceRef("default/web") });
    expect(outcome?.$case).toBe("absent");

    stage.begin("made");
    expect(await ensured(stage, { ...web, version: "1" })).toEqual(made(2));

    stage.begin("up to date already");
    expect(await ensured(stage, { ...web, version: "1" })).toEqual([]);

    stage.begin("reported");
    const got = await client.getLoadBalancer({ service: serviceRef("default/web") });
    const list = await client.listLoadBalancers();
    expect(list.loadBalancers).toEqual(got.outcome?.$case === "loadBalancer" ? [got.outcome.value] : []);

    stage.begin("one node fewer");
    expect(await updateNodes(stage, [one])).toMatchObject({ nodesFingerprint: "nodes-node-1", registeredNodes: 1 });
    expect(kinds(stage.writes())).toEqual(["PUT pools/members", "PUT pools/members", "PUT loadbalancers"]);

    stage.begin("another port and another node port");
    const moved = { nodes, ports: [tcp(81), udp(53, 31_000)] };
    expect(await ensured(stage, { ...moved, version: "2" })).toEqual([
      "PUT loadbalancers",
      "DELETE listeners",
      ...newPool,
      "POST listeners",
      ...newPool,
      "PUT listeners",
      "DELETE pools",
      "DELETE pools",
      "PUT loadbalancers",
    ]);

    stage.begin("deleted");
    await deleted(stage);
    stage.begin("deleted already");
    await deleted(stage);
    expect(stage.writes()).toEqual([]);
  },
};

/** Changes by fields and annotations of the Service. */
export const settings: Scenario = {
  name: "settings",
  env,
  play: async (stage, places) => {
    const one = await stage.fact("one", (tenant) => makeServer(tenant, "node-1"), deleteServer);
    const web = { nodes: [one], ports: [tcp(80)] };
    const changed = (...steps: readonly string[]) => ["PUT loadbalancers", ...steps, "PUT loadbalancers"];

    stage.begin("made");
    expect(await ensured(stage, { ...web, version: "1" })).toEqual(made(1));

    stage.begin("times and a limit of connections");
    const timed = {
      "timeout-client-data": "60000",
      "timeout-member-connect": "1000",
      "timeout-member-data": "70000",
      "timeout-tcp-inspect": "10",
      "connection-limit": "100",
    };
    expect(await ensured(stage, { ...web, annotations: timed, version: "2" })).toEqual(changed("PUT listeners"));

    stage.begin("source ranges");
    const more = { sourceRanges: { cidrs: ["192.0.2.0/24", "198.51.100.0/24"] } };
    expect(await ensured(stage, { ...web, annotations: timed, more, version: "3" })).toEqual(changed("PUT listeners"));

    stage.begin("everybody again");
    expect(await ensured(stage, { ...web, annotations: timed, version: "4" })).toEqual(changed("PUT listeners"));

    stage.begin("session affinity");
    const sticky = { sessionAffinity: { timeout: { seconds: 600n, nanos: 0 } } };
    expect(await ensured(stage, { ...web, more: sticky, version: "5" })).toEqual(changed("PUT pools", "PUT listeners"));

    stage.begin("no session affinity");
    expect(await ensured(stage, { ...web, version: "6" })).toEqual(changed("PUT pools"));

    stage.begin("health checks");
    const checked = { "health-monitor-delay": "10", "health-monitor-timeout": "4", "health-monitor-max-retries": "2" };
    expect(await ensured(stage, { ...web, annotations: checked, version: "7" })).toEqual(changed("PUT healthmonitors"));

    stage.begin("no health checks");
    const unchecked = { "enable-health-monitor": "false" };
    expect(await ensured(stage, { ...web, annotations: unchecked, version: "8" })).toEqual(
      changed("DELETE healthmonitors"),
    );

    stage.begin("the PROXY protocol");
    const proxied = { "proxy-protocol": "v2" };
    expect(await ensured(stage, { ...web, annotations: proxied, version: "9" })).toEqual(
      changed(...newPool, "PUT listeners", "DELETE pools"),
    );

    stage.begin("nodes in a subnet that is named");
    const inSubnet = { ...proxied, "member-subnet-id": places["subnet"] ?? "" };
    expect(await ensured(stage, { ...web, annotations: inSubnet, version: "10" })).toEqual(
      changed("PUT pools/members", "PUT pools/members"),
    );
    stage.begin("nodes in a subnet that is named, up to date already");
    expect(await ensured(stage, { ...web, annotations: inSubnet, version: "10" })).toEqual([]);

    stage.begin("a header with the client's address");
    const forwarded = { "x-forwarded-for": "true" };
    expect(await ensured(stage, { ...web, annotations: forwarded, version: "11" })).toEqual(
      changed("DELETE listeners", ...newPool, "POST listeners", "DELETE pools"),
    );

    stage.begin("which one it is");
    const { outcome } = await stage.client.getLoadBalancer({ service: serviceRef("default/web") });
    const id = outcome?.$case === "loadBalancer" ? outcome.value.id : "";

    stage.begin("while another client changes it");
    stage.beforeNextWrite(async ({ member }) => {
      const body = { loadbalancer: { description: "changed by another client" } };
      await member.ask("octavia", "PUT", `/lbaas/loadbalancers/${id}`, body);
    });
    await ensured(stage, { ...web, ports: [tcp(80), tcp(443)], annotations: forwarded, version: "12" });

    stage.begin("deleted");
    await deleted(stage);
  },
};
