import { InstanceState } from "@cloudwire/proto/cloudprovider/v1/instance";
import { expect } from "vitest";
import type { Fact } from "../recording.ts";
import type { Scenario, Stage } from "../stage.ts";
import { deleteServer, makeServer } from "./fixtures.ts";

/** Of this form recordings keep it. */
const absentId = "00000000-0000-4000-8000-ffffffffffff";

const providerId = ({ id }: Fact): string => `openstack:///${id}`;
const named = (fact: Fact) => ({ name: fact["name"] ?? "" });
const byId = (fact: Fact) => ({ ...named(fact), providerId: providerId(fact) });

/** Whatever the provider still knows is of no account: how long ago it read depends on the machine. */
const maxDataAge = { seconds: 0n, nanos: 0 };

/** Kinds of the answers, and for errors their reasons. */
async function outcomes(
  { client }: Stage,
  nodes: readonly { readonly name: string; readonly providerId?: string }[],
): Promise<readonly string[]> {
  const { results } = await client.batchGetInstances({ nodes: [...nodes], maxDataAge });
  return results.map(({ outcome }) => (outcome?.$case === "unknown" ? outcome.value.reason : (outcome?.$case ?? "")));
}

export const instances: Scenario = {
  name: "instances",
  env: () => ({}),
  play: async (stage, places) => {
    const { client } = stage;
    const running = await stage.fact("running", (tenant) => makeServer(tenant, "node-1"), deleteServer);
    const stopped = await stage.fact(
      "stopped",
      async (tenant) => {
        const server = await makeServer(tenant, "node-2");
        await tenant.stopServer(server.id);
        return server;
      },
      deleteServer,
    );
    const gone = await stage.fact("gone", async (tenant) => {
      const server = await makeServer(tenant, "node-3");
      await deleteServer(tenant, server);
      return server;
    });

    stage.begin("a machine by its id and one by its name");
    const { results } = await client.batchGetInstances({ nodes: [byId(running), named(stopped)], maxDataAge });
    expect(results.map(({ outcome }) => outcome)).toMatchObject([
      {
        $case: "instance",
        value: {
          providerId: providerId(running),
          name: "node-1",
          instanceType: expect.stringMatching(/-small$/),
          zone: places["zone"],
          region: places["region"],
          state: InstanceState.RUNNING,
          addresses: [{ address: running["address"] }, { address: "node-1" }],
        },
      },
      { $case: "instance", value: { providerId: providerId(stopped), name: "node-2", state: InstanceState.STOPPED } },
    ]);

    stage.begin("machines that are not there");
    const absent = { name: "node-9", providerId: `openstack:///${absentId}` };
    expect(await outcomes(stage, [byId(gone), absent])).toEqual(["absent", "absent"]);

    stage.begin("a name that no machine has");
    expect(await outcomes(stage, [{ name: "node-9" }])).toEqual(["absent"]);

    stage.begin("many machines at once");
    expect(await outcomes(stage, [byId(running), byId(stopped), named(running)])).toEqual(Array(3).fill("instance"));

    stage.begin("all machines");
    const listed = await client.listInstances();
    expect(listed.complete).toBe(true);
    expect(listed.instances.map(({ name }) => name).toSorted()).toEqual(["node-1", "node-2"]);

    await stage.fact("twin", (tenant) => makeServer(tenant, "NODE-1"), deleteServer);
    stage.begin("two machines of one name");
    expect(await outcomes(stage, [named(running)])).toEqual(["AMBIGUOUS_NAME"]);
  },
};
