import { expect } from "vitest";
import { at } from "../../../../support/kube.ts";
import type { Tenant } from "../../support/tenant.ts";
import type { Fact } from "../recording.ts";
import type { Scenario, Stage } from "../stage.ts";
import { deleted, ensure, ingressOf, tcp, type DesiredLoadBalancer } from "./desired.ts";

const internal = { "service.beta.kubernetes.io/openstack-internal-load-balancer": "true" };
const kept = { "keep-floatingip": "true" };

async function addressAfter(stage: Stage, desired: Omit<DesiredLoadBalancer, "ports">): Promise<string | undefined> {
  return (await ensure(stage, { ...desired, ports: [tcp(80)] }))?.ingress?.items[0]?.ip;
}

const ofFloating = (writes: readonly string[]): readonly string[] =>
  writes.flatMap((write) => /^(\w+) \/network\/v2\.0\/floatingips/.exec(write)?.[1] ?? []);

async function makeFloatingIp({ member, parts }: Tenant): Promise<Fact> {
  const payload = { floatingip: { floating_network_id: parts.floatingNetwork } };
  const { id, address } = floatingIpOf(at(await member.ask("neutron", "POST", "/floatingips", payload), "floatingip"));
  return { id, address };
}

const floatingIpOf = (value: unknown) => ({
  id: String(at(value, "id")),
  address: String(at(value, "floating_ip_address")),
  port: at(value, "port_id"),
});

const deleteFloatingIp = ({ member }: Tenant, { id }: Fact) => member.ask("neutron", "DELETE", `/floatingips/${id}`);

/** Addresses from outside: created, kept, released, a user's own. */
export const floatingIps: Scenario = {
  name: "floating-ips",
  env: ({ subnet = "", floatingNetwork = "" }) => ({
    CLOUDWIRE_OPENSTACK_LOAD_BALANCER_SUBNET: subnet,
    CLOUDWIRE_OPENSTACK_FLOATING_NETWORK: floatingNetwork,
  }),
  play: async (stage) => {
    stage.begin("made with the load balancer");
    const made = await addressAfter(stage, { version: "1" });
    expect(ofFloating(stage.writes())).toEqual(["POST"]);

    stage.begin("up to date already");
    expect(await addressAfter(stage, { version: "1" })).toBe(made);
    expect(stage.writes()).toEqual([]);

    // Unallocated: the project does not have it, and a member may not choose.
    const { address: unknown = "" } = await stage.fact("unknown", async () => ({ address: "203.0.113.9" }));
    const refused = { reason: "CLOUD_PERMISSION_DENIED", fields: ["spec.requested_ips[0]"] };
    stage.begin("an address that cannot be had");
    const payload = { more: { requestedIps: [unknown] }, version: "1.1" };
    await expect(addressAfter(stage, payload)).rejects.toMatchObject(refused);
    // Refused, and the one that it has stays.
    expect(ofFloating(stage.writes())).toEqual(["POST"]);
    stage.begin("an address that cannot be had, for a new load balancer");
    await expect(addressAfter(stage, { service: "default/other", ...payload })).rejects.toMatchObject(refused);
    expect(stage.writes()).toEqual(["POST /network/v2.0/floatingips"]);

    stage.begin("internal from now on");
    expect(await addressAfter(stage, { annotations: internal, version: "2" })).not.toBe(made);
    expect(ofFloating(stage.writes())).toEqual(["DELETE"]);

    const own = await stage.fact("own", makeFloatingIp, deleteFloatingIp);
    const requestedIps = [own["address"] ?? ""];
    stage.begin("an address that the project has");
    expect(await addressAfter(stage, { more: { requestedIps }, version: "3" })).toBe(own["address"]);
    expect(ofFloating(stage.writes())).toEqual(["PUT"]);

    stage.begin("an address that another Service has");
    const taken = addressAfter(stage, { service: "default/other", more: { requestedIps }, version: "1" });
    await expect(taken).rejects.toMatchObject({ reason: "ADDRESS_IN_USE" });
    expect(stage.writes()).toEqual([]);

    stage.begin("deleted, and a user's own address stays");
    await deleted(stage);
    expect(ofFloating(stage.writes())).toEqual([]);
    const left = await stage.fact("left", async ({ member }) => {
      const answer = await member.ask("neutron", "GET", `/floatingips/${own["id"]}`);
      return { port: String(floatingIpOf(at(answer, "floatingip")).port) };
    });
    expect(left).toEqual({ port: "null" });

    stage.begin("made, to be kept");
    const keeping = await addressAfter(stage, { annotations: kept, version: "4" });
    stage.begin("kept when the load balancer goes");
    await deleted(stage, "default/web", kept);
    expect(ofFloating(stage.writes())).toEqual([]);

    stage.begin("taken again by a new one");
    expect(await addressAfter(stage, { version: "5" })).toBe(keeping);
    expect(ofFloating(stage.writes())).toEqual(["PUT"]);
    expect(await ingressOf(stage)).toBe(keeping);

    stage.begin("deleted, with the address");
    await deleted(stage);
    expect(ofFloating(stage.writes())).toEqual(["DELETE"]);
    const onShutdown = await stage.fact("at the end", async ({ member }) => {
      const answer = await member.ask("neutron", "GET", `/floatingips?floating_ip_address=${keeping}`);
      return { ofService: JSON.stringify(at(answer, "floatingips")) };
    });
    expect(onShutdown).toEqual({ ofService: "[]" });
  },
};
