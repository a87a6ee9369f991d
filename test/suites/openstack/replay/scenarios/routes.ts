import { expect } from "vitest";
import type { Tenant } from "../../support/tenant.ts";
import type { Fact } from "../recording.ts";
import type { Scenario, Stage } from "../stage.ts";
import { deleteServer, makeServer } from "./fixtures.ts";

const first = "10.244.1.0/24";
const second = "10.244.2.0/24";
/** A route that a user has created by hand, for another purpose. */
const foreign = "192.168.77.0/24";
const others = "other-cluster";

const route = (destinationCidr: string, { id }: Fact) => ({ destinationCidr, targetProviderId: `openstack:///${id}` });

async function ensure({ client }: Stage, wanted: readonly ReturnType<typeof route>[]): Promise<readonly string[]> {
  const { results } = await client.batchEnsureRoutes({ routes: [...wanted] });
  return results.map(({ outcome }) =>
    outcome?.$case === "error" ? outcome.value.reason : outcome?.$case === "route" ? outcome.value.id : "",
  );
}

async function listed({ client }: Stage): Promise<readonly string[]> {
  return (await client.listRoutes()).routes
    .map(({ id, blackhole }) => `${id}${blackhole ? " nowhere" : ""}`)
    .toSorted();
}

const extraRoutes = ({ member, parts }: Tenant, action: string, routes: readonly object[]) =>
  member.ask("neutron", "PUT", `/routers/${parts.router}/${action}`, { router: { routes } });

const tagPath = ({ parts }: Tenant, tag: string) => `/routers/${parts.router}/tags/${tag}`;

export const routes: Scenario = {
  name: "routes",
  env: ({ router = "" }) => ({
    CLOUDWIRE_OPENSTACK_ROUTER: router,
    CLOUDWIRE_OPENSTACK_POD_CIDR: "10.244.0.0/16",
  }),
  play: async (stage) => {
    const one = await stage.fact("one", (tenant) => makeServer(tenant, "node-1"), deleteServer);
    const two = await stage.fact("two", (tenant) => makeServer(tenant, "node-2"), deleteServer);
    const byHand = await stage.fact(
      "by hand",
      async (tenant) => {
        const nexthop = one["address"] ?? "";
        await extraRoutes(tenant, "add_extraroutes", [{ destination: foreign, nexthop }]);
        return { destination: foreign, nexthop };
      },
      (tenant, fact) => extraRoutes(tenant, "remove_extraroutes", [fact]),
    );
    const toOne = `${first}@${one["address"]}`;
    const toTwo = `${second}@${two["address"]}`;

    stage.begin("none yet");
    expect(await listed(stage)).toEqual([]);

    stage.begin("made");
    expect(await ensure(stage, [route(first, one), route(second, two)])).toEqual([toOne, toTwo]);
    expect(await listed(stage)).toEqual([toOne, toTwo]);

    stage.begin("up to date already");
    expect(await ensure(stage, [route(first, one), route(second, two)])).toEqual([toOne, toTwo]);
    expect(stage.writes()).toEqual([]);

    stage.begin("to another machine");
    expect(await ensure(stage, [route(first, two)])).toEqual([`${first}@${two["address"]}`]);

    stage.begin("rejected: no such machine, and outside the pod CIDRs");
    const absentMachine = { id: "00000000-0000-4000-8000-ffffffffffff" };
    expect(await ensure(stage, [route("10.244.3.0/24", absentMachine), route("10.99.0.0/24", one)])).toEqual([
      "ROUTE_TARGET_NOT_FOUND",
      "FIELD_INVALID",
    ]);
    expect(stage.writes()).toEqual([]);

    stage.begin("removed, the last one included");
    const gone = [route(first, two), route(second, two)];
    await stage.client.batchDeleteRoutes({ routes: gone });
    expect(stage.writes()).toHaveLength(2);

    stage.begin("removed already");
    const again = await stage.client.batchDeleteRoutes({ routes: gone });
    expect(again.results.map(({ outcome }) => outcome?.$case)).toEqual(["route", "route"]);
    expect(stage.writes()).toEqual([]);

    await stage.fact(
      "of another cluster",
      async (tenant) => {
        const tag = `cloudwire-cluster-id=${others}`;
        await tenant.member.ask("neutron", "PUT", tagPath(tenant, tag), {});
        return { tag };
      },
      (tenant, { tag = "" }) => tenant.member.ask("neutron", "DELETE", tagPath(tenant, tag)),
    );
    await stage.fact(
      "another cluster's",
      async (tenant) => {
        const theirs = { destination: first, nexthop: two["address"] ?? "" };
        await extraRoutes(tenant, "add_extraroutes", [theirs]);
        return theirs;
      },
      (tenant, theirs) => extraRoutes(tenant, "remove_extraroutes", [theirs]),
    );
    stage.begin("refused: another cluster's router");
    expect(await ensure(stage, [route(first, one), route(second, one)])).toEqual([
      "CIDR_CONFLICT",
      "OWNED_BY_ANOTHER_CLUSTER",
    ]);
    expect(await listed(stage)).toEqual([]);
    expect(stage.writes()).toEqual([]);
    expect(byHand["destination"]).toBe(foreign);
  },
};
