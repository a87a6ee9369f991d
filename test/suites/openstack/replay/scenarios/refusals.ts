import { serviceRef } from "@cloudwire/provider-sdk/testing";
import { expect } from "vitest";
import type { Tenant } from "../../support/tenant.ts";
import type { Fact } from "../recording.ts";
import type { Scenario, Stage } from "../stage.ts";
import { deleteBalancer, untilBalancer } from "./fixtures.ts";
import { tcp, requestOf } from "./desired.ts";

async function makeBalancer({ member, parts }: Tenant, name: string, tags: readonly string[]): Promise<Fact> {
  const payload = { name, tags, vip_subnet_id: parts.subnet };
  const id = await member.make("octavia", "/lbaas/loadbalancers", "loadbalancer", payload);
  await untilBalancer(member, id);
  return { id };
}

const wanted = (service: string) => requestOf({ service, ports: [tcp(80)], version: "1" });

/** What the load balancer of a Service will be called. */
async function plannedName(stage: Stage, service: string): Promise<string> {
  stage.begin(`what the load balancer of ${service} will be called`);
  const change = { requestId: "planned", validateOnly: true };
  const { plannedChanges } = await stage.client.ensureLoadBalancer({ ...wanted(service), change });
  expect(stage.writes()).toEqual([]);
  return plannedChanges[0]?.resourceId ?? "";
}

/** What the provider may not have, and says so. */
export const refusals: Scenario = {
  name: "refusals",
  env: ({ subnet = "" }) => ({ CLOUDWIRE_OPENSTACK_LOAD_BALANCER_SUBNET: subnet }),
  play: async (stage) => {
    const { client } = stage;
    const name = await plannedName(stage, "default/web");
    await stage.fact("by hand", (tenant) => makeBalancer(tenant, name, ["mine"]), deleteBalancer);
    stage.begin("another load balancer has this name");
    await expect(client.ensureLoadBalancer(wanted("default/web"))).rejects.toMatchObject({ reason: "NAME_TAKEN" });
    expect((await client.deleteLoadBalancer({ service: serviceRef("default/web") })).done).toBe(true);
    expect(stage.writes()).toEqual([]);

    const other = await plannedName(stage, "default/other");
    const tags = ["cloudwire.dev/cluster-id=green", "cloudwire.dev/cluster-name=Green"];
    await stage.fact("of another cluster", (tenant) => makeBalancer(tenant, other, tags), deleteBalancer);
    stage.begin("another cluster has one of this name");
    await expect(client.ensureLoadBalancer(wanted("default/other"))).rejects.toMatchObject({
      reason: "OWNED_BY_ANOTHER_CLUSTER",
      metadata: { owner_cluster_id: "green" },
    });
    expect(stage.writes()).toEqual([]);

    await stage.fact(
      "quota of load balancers",
      async (tenant) => {
        await tenant.limitLoadBalancers(2);
        return { loadbalancers: "2" };
      },
      (tenant) => tenant.limitLoadBalancers(-1),
    );
    stage.begin("the quota is used up");
    await expect(client.ensureLoadBalancer(wanted("default/third"))).rejects.toMatchObject({
      reason: "QUOTA_EXCEEDED",
    });
  },
};
