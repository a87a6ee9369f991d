import type { ProviderClient } from "@cloudwire/provider-sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import type { Program } from "../../support/program.ts";
import { Site } from "./support/site.ts";
import type { NodeMachine } from "./support/topology.ts";

let site: Site;
let provider: Program;
let client: ProviderClient;

beforeAll(async () => {
  site = await Site.create({ more: "routes: { protocol: 99 }" });
  await Promise.all(site.topology.nodes.map((node) => site.topology.serve(node, [30_080])));
  provider = await site.startProvider();
  client = site.client();
});
afterAll(() => site[Symbol.asyncDispose]());

const routeTo = ({ name, podCidr }: NodeMachine, destinationCidr = podCidr) => ({
  destinationCidr,
  targetProviderId: `baremetal://id-${name}`,
  targetNodeName: name,
});

const ensure = async (...routes: readonly ReturnType<typeof routeTo>[]) => {
  const { results } = await client.batchEnsureRoutes({ routes: [...routes] });
  return results.map(({ outcome }) => outcome);
};

/** Destinations of the kernel's routes of this origin. */
const inKernel = async (protocol: string): Promise<readonly string[]> => {
  const text = await site.onGateway("ip", "-o", "route", "show", "proto", protocol);
  return text
    .split("\n")
    .flatMap((line) => line.split(" ")[0] || [])
    .toSorted();
};

/** Whether the pod is reached, from the client or from another node. */
const reaches = async ({ name, podIp }: NodeMachine, from = site.topology.client): Promise<boolean> =>
  (await site.topology.askFrom(from, "tcp", podIp, 30_080))[0]?.startsWith(`${name} `) ?? false;

describe("routes of the kernel", () => {
  test("lead to pods, and come back after the link was down", async () => {
    const [one, two] = site.topology.nodes;
    if (one === undefined || two === undefined) throw new Error("the topology has no two nodes");
    expect(await reaches(one)).toBe(false);
    await ensure(routeTo(one), routeTo(two));
    expect(await inKernel("99")).toEqual([one.podCidr, two.podCidr]);
    expect([await reaches(one), await reaches(two), await reaches(two, one.namespace)]).toEqual([true, true, true]);
    // The kernel drops routes with their link.
    await site.onGateway("ip", "link", "set", "nodes", "down");
    expect(await inKernel("99")).toEqual([]);
    await site.onGateway("ip", "link", "set", "nodes", "up");
    await eventually("the routes to be back", 30_000, async () =>
      (await inKernel("99")).length === 2 ? true : undefined,
    );
    expect(await reaches(two)).toBe(true);
    const listed = await client.listRoutes({});
    expect(
      listed.routes.map(({ destinationCidr, targetNodeName, blackhole }) => [
        destinationCidr,
        targetNodeName,
        blackhole,
      ]),
    ).toEqual([
      [one.podCidr, "node-1", false],
      [two.podCidr, "node-2", false],
    ]);
  });

  test("follow the machine's address, say whose machine is gone, survive the provider, and go when they must", async () => {
    const [one, two] = site.topology.nodes;
    if (one === undefined || two === undefined) throw new Error("the topology has no two nodes");
    await site.writeInventory([{ ...one, ipv4: "10.50.0.111" }]);
    const leadsTo = (address: string) =>
      eventually(`the route to lead to ${address}`, 30_000, async () =>
        (await site.onGateway("ip", "route", "show", one.podCidr)).includes(`via ${address} `) ? true : undefined,
      );
    await leadsTo("10.50.0.111");
    await site.writeInventory(site.topology.nodes.slice(0, 1));
    const { routes } = await client.listRoutes({});
    expect(new Map(routes.map(({ targetNodeName, blackhole }) => [targetNodeName, blackhole]))).toEqual(
      new Map([
        ["node-1", false],
        ["node-2", true],
      ]),
    );
    await site.writeInventory(site.topology.nodes);
    await leadsTo(one.ipv4);
    await provider.stop("SIGKILL");
    expect(await inKernel("99")).toHaveLength(2);
    provider = await site.startProvider();
    expect((await client.listRoutes({})).routes).toHaveLength(2);
    await client.batchDeleteRoutes({ routes: [routeTo(one), routeTo(two)] });
    expect(await inKernel("99")).toEqual([]);
  });

  test("of another process stay as they are", async () => {
    const [one, two] = site.topology.nodes;
    if (one === undefined || two === undefined) throw new Error("the topology has no two nodes");
    await site.onGateway("ip", "route", "add", one.podCidr, "via", two.ipv4, "proto", "static");
    await site.onGateway("ip", "route", "add", "10.245.0.0/24", "via", two.ipv4, "proto", "98");
    const before = await site.onGateway("ip", "route", "show", "table", "all");
    const reasonOf = (outcome: Awaited<ReturnType<typeof ensure>>[number]) =>
      outcome?.$case === "error" ? outcome.value.reason : outcome?.$case;
    const outcomes = await ensure(routeTo(one), routeTo(two, "10.245.0.0/24"), routeTo({ ...one, name: "node-9" }));
    expect(outcomes.map(reasonOf)).toEqual(["CIDR_CONFLICT", "CIDR_CONFLICT", "ROUTE_TARGET_NOT_FOUND"]);
    const other = site.client({ id: "another-cluster" });
    await ensure(routeTo(two));
    const [foreign] = (await other.batchEnsureRoutes({ routes: [routeTo(two)] })).results;
    expect(reasonOf(foreign?.outcome)).toBe("CIDR_CONFLICT");
    expect((await other.listRoutes({})).routes).toEqual([]);
    await client.batchDeleteRoutes({ routes: [routeTo(one), routeTo(two), routeTo(two, "10.245.0.0/24")] });
    expect(await site.onGateway("ip", "route", "show", "table", "all")).toBe(before);
  });
});
