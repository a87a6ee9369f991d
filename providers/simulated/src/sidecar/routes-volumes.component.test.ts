import {
  BatchDeleteRoutesRequest,
  BatchEnsureRoutesRequest,
  ListRoutesRequest,
  type Route,
  type RouteResult,
} from "@cloudwire/proto/cloudprovider/v1/route";
import { BatchGetVolumesRequest, type VolumeRef } from "@cloudwire/proto/cloudprovider/v1/volume";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FaultSpec } from "../api/admin.ts";
import type { Instance } from "../api/instances.ts";
import { instanceSpecs, soon } from "../test/test-cloud.ts";
import { outcomeWord, reasonOf, startTestProvider, type TestProvider } from "../test/test-provider.ts";

let provider: TestProvider;
let nodes: Instance[];
beforeEach(async () => {
  provider = await startTestProvider({ callTimeoutMs: 1000 });
  nodes = await provider.cloud.client.createInstances(instanceSpecs(3), soon());
});
afterEach(async () => provider.close());

const wanted = (destinationCidr: string, node: Instance | undefined): Partial<Route> => ({
  destinationCidr,
  targetNodeName: node?.name ?? "gone",
  targetProviderId: node ? `sim://${node.zone}/${node.id}` : "sim://north-a/i-000000000000",
});

const words = (results: readonly RouteResult[]) =>
  results.map(({ outcome }) => (outcome?.$case === "error" ? outcome.value.reason : outcome?.$case));

async function ensure(routes: readonly Partial<Route>[], more: { cluster?: string; validateOnly?: boolean } = {}) {
  const request = BatchEnsureRoutesRequest.fromPartial({
    context: provider.contextOf(more.cluster ?? "cluster-1"),
    change: provider.change({ validateOnly: more.validateOnly ?? false }),
    routes: [...routes],
  });
  return provider.call(provider.client.batchEnsureRoutes.bind(provider.client), request);
}

async function remove(routes: readonly Partial<Route>[], cluster = "cluster-1") {
  const context = provider.contextOf(cluster);
  const request = BatchDeleteRoutesRequest.fromPartial({ context, change: provider.change(), routes: [...routes] });
  return provider.call(provider.client.batchDeleteRoutes.bind(provider.client), request);
}

async function list(cluster = "cluster-1") {
  const request = ListRoutesRequest.fromPartial({ context: provider.contextOf(cluster) });
  return provider.call(provider.client.listRoutes.bind(provider.client), request);
}

const inCloud = async () =>
  (await provider.cloud.client.listRoutes({}, soon())).items.map(({ destination }) => destination).toSorted();

async function countCalls<T>(work: () => Promise<T>) {
  await provider.cloud.admin.resetCalls();
  const result = await work();
  const { total, mutating } = await provider.cloud.admin.calls();
  return { result, total, mutating };
}

describe("routes", () => {
  test("are made in one batch with two calls, and found up to date with one", async () => {
    const routes = nodes.map((node, index) => wanted(`10.1.${index}.0/24`, node));
    const first = await countCalls(async () => ensure(routes));
    expect([first.total, first.mutating, words(first.result.results)]).toEqual([2, 1, ["route", "route", "route"]]);
    const second = await countCalls(async () => ensure(routes));
    expect([second.total, second.mutating, words(second.result.results)]).toEqual([1, 0, ["route", "route", "route"]]);
    const listed = await list();
    expect(listed).toMatchObject({ complete: true, quota: { limit: 32_000, used: 3 } });
    expect(
      listed.routes.map(({ destinationCidr, targetNodeName }) => `${destinationCidr} ${targetNodeName}`).toSorted(),
    ).toEqual(["10.1.0.0/24 node-0", "10.1.1.0/24 node-1", "10.1.2.0/24 node-2"]);
  });

  test("fail item by item", async () => {
    await provider.cloud.client.createRoutes([{ destination: "10.2.0.0/24", instanceId: nodes[0]?.id ?? "" }], soon());
    await ensure([wanted("10.2.1.0/24", nodes[0])], { cluster: "cluster-2" });
    const { results } = await ensure([
      wanted("10.1.0.0/24", nodes[0]),
      wanted("10.2.0.0/24", nodes[1]),
      wanted("10.2.1.0/24", nodes[1]),
      wanted("10.1.1.0/24", undefined),
      { ...wanted("10.1.2.0/24", nodes[0]), targetProviderId: "sim://garbage" },
    ]);
    expect(words(results)).toEqual([
      "route",
      "CIDR_CONFLICT",
      "CIDR_CONFLICT",
      "ROUTE_TARGET_NOT_FOUND",
      "ROUTE_TARGET_NOT_FOUND",
    ]);
  });

  test("move to another machine, and are black holes when theirs is gone", async () => {
    await ensure([wanted("10.1.0.0/24", nodes[0])]);
    await ensure([wanted("10.1.0.0/24", nodes[1])]);
    expect((await list()).routes).toMatchObject([{ targetNodeName: "node-1", blackhole: false }]);
    await provider.cloud.client.terminateInstances([nodes[1]?.id ?? ""], soon());
    expect((await list()).routes).toMatchObject([{ targetNodeName: "node-1", blackhole: true }]);
    await ensure([wanted("10.1.0.0/24", nodes[2])]);
    expect((await list()).routes).toMatchObject([{ targetNodeName: "node-2", blackhole: false }]);
  });

  test("of others are neither listed nor deleted", async () => {
    await provider.cloud.client.createRoutes([{ destination: "10.2.0.0/24", instanceId: nodes[0]?.id ?? "" }], soon());
    await ensure([wanted("10.2.1.0/24", nodes[0])], { cluster: "cluster-2" });
    await ensure([wanted("10.1.0.0/24", nodes[0])]);
    const { routes } = await list();
    expect(routes.map(({ destinationCidr }) => destinationCidr)).toEqual(["10.1.0.0/24"]);
    const foreign = ["10.2.0.0/24", "10.2.1.0/24"].map((cidr) => wanted(cidr, nodes[0]));
    const { results } = await remove([...routes, ...foreign, wanted("10.9.0.0/24", nodes[0])]);
    expect(results.map(({ outcome }) => outcome?.$case)).toEqual(["route", "error", "error", "route"]);
    expect(await inCloud()).toEqual(["10.2.0.0/24", "10.2.1.0/24"]);
  });

  test("beyond the quota are refused", async () => {
    await provider.cloud.admin.change({ quotas: { routes: 1 } });
    const { results, quota } = await ensure([wanted("10.1.0.0/24", nodes[0]), wanted("10.1.1.0/24", nodes[1])]);
    expect([words(results), quota]).toEqual([["route", "QUOTA_EXCEEDED"], { limit: 1, used: 1 }]);
  });

  test("with validate_only are only planned", async () => {
    const routes = [wanted("10.1.0.0/24", nodes[0]), wanted("10.1.1.0/24", undefined), wanted("10.1.2.0/24", nodes[1])];
    await provider.cloud.client.terminateInstances([nodes[1]?.id ?? ""], soon());
    const { plannedChanges, results } = await ensure(routes, { validateOnly: true });
    expect(words(results)).toEqual(["route", "ROUTE_TARGET_NOT_FOUND", "ROUTE_TARGET_NOT_FOUND"]);
    expect(plannedChanges).toHaveLength(1);
    expect(await inCloud()).toEqual([]);
  });
});

describe("volumes", () => {
  const csi = (volumeHandle: string, driver = "csi.simulated.cloudwire.dev") => ({
    name: "pv",
    source: { $case: "csi" as const, value: { driver, volumeHandle } },
  });

  async function get(volumes: readonly Pick<VolumeRef, "name" | "source">[]) {
    const request = BatchGetVolumesRequest.fromPartial({ context: provider.context, volumes: [...volumes] });
    return (await provider.call(provider.client.batchGetVolumes.bind(provider.client), request)).results;
  }

  const wordOf = ({ outcome }: Awaited<ReturnType<typeof get>>[number]): string =>
    outcome?.$case === "volume" ? "volume" : outcomeWord({ outcome });

  test("of a legacy in-tree plugin belong to providers that declare it", async () => {
    await provider.close();
    provider = await startTestProvider({ inTreePlugins: ["kubernetes.io/cinder"] });
    const { id } = await provider.cloud.client.createVolume({ name: "data", zone: "north-a", sizeGiB: 1 }, soon());
    const inTree = (plugin: string) => ({
      name: "pv",
      source: { $case: "inTree" as const, value: { plugin, volumeId: id } },
    });
    const results = await get([inTree("kubernetes.io/cinder"), inTree("kubernetes.io/aws-ebs")]);
    expect(results.map(wordOf)).toEqual(["volume", "notOwned"]);
  });

  test("are distinguished: present, absent, not owned, malformed", async () => {
    const volume = await provider.cloud.client.createVolume({ name: "data", zone: "south-b", sizeGiB: 1 }, soon());
    const asked = [csi(volume.id), csi("vol-000000000000"), csi(volume.id, "ebs.csi.aws.com"), csi("garbage")];
    const { result, total } = await countCalls(async () => get(asked));
    expect([total, result.map(wordOf)]).toEqual([
      1,
      ["volume", "absent LOOKUP_MISS", "notOwned", "unknown FIELD_INVALID"],
    ]);
    expect(result[0]?.outcome?.value).toMatchObject({ id: volume.id, zones: ["south-b"], region: "south" });
  });

  test.each<FaultSpec>([
    { kind: "forbidden" },
    { kind: "rateLimited" },
    { kind: "internalError" },
    { kind: "hang" },
    { kind: "emptyList" },
    { kind: "truncatedPage" },
    { kind: "staleReplica", staleMs: 60_000 },
    { kind: "zoneOutage", zone: "north-a" },
  ])("are never absent on %j", async (fault) => {
    await provider.cloud.admin.addFault(fault);
    const results = await get([csi("vol-000000000000")]).then(
      (results) => results.map(wordOf),
      (error: unknown) => [`unknown ${reasonOf(error)}`],
    );
    expect(results).toEqual([expect.stringMatching(/^unknown [A-Z_]+$/)]);
  });
});
