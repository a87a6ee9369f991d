import { describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, type Json } from "../../../support/kube.ts";
import type { Program } from "../../../support/program.ts";
import { eachHarness } from "../support/each-harness.ts";
import { UNINITIALIZED, type Harness } from "../support/harness.ts";

const WAIT_MS = 90_000;
const CALL_MS = 10_000;

let harness: Harness;

eachHarness((fresh) => {
  harness = fresh;
});

function startController(clusterCidr: string, ...args: readonly string[]): Program {
  return harness.startController({
    args: [
      "--controllers=nodeipam",
      "--allocate-node-cidrs",
      `--cluster-cidr=${clusterCidr}`,
      "--leader-elect=false",
      ...args,
    ],
  });
}

function names(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

async function register(name: string, ...podCIDRs: readonly string[]): Promise<Json> {
  return harness.kube.create("/api/v1/nodes", {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name },
    spec: {
      ...(podCIDRs.length === 0 ? {} : { podCIDR: podCIDRs[0], podCIDRs }),
      taints: [{ key: UNINITIALIZED, value: "true", effect: "NoSchedule" }],
    },
  });
}

async function registerAll(all: readonly string[]): Promise<void> {
  await Promise.all(all.map((name) => register(name)));
}

function rangesOf(node: Json): readonly string[] {
  const ranges = at(node, "spec", "podCIDRs");
  return Array.isArray(ranges) ? ranges.map(String) : [];
}

async function allRanges(): Promise<ReadonlyMap<string, readonly string[]>> {
  const nodes = await harness.kube.items("/api/v1/nodes");
  return new Map(nodes.map((node) => [String(at(node, "metadata", "name")), rangesOf(node)]));
}

/** The ranges of all Nodes once each of `wanted` has so many. */
async function ranged(wanted: readonly string[], count: number): Promise<ReadonlyMap<string, readonly string[]>> {
  return eventually(
    `${wanted.length} nodes to have ${count} pod CIDRs each`,
    WAIT_MS,
    async () => {
      const ranges = await allRanges();
      return wanted.every((name) => ranges.get(name)?.length === count) ? ranges : undefined;
    },
    () => harness.outputs(),
  );
}

function twice(ranges: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const all = [...ranges.values()].flat();
  return all.filter((range, index) => all.indexOf(range) !== index);
}

async function eventAbout(name: string, reason: string): Promise<string> {
  const selector = `involvedObject.kind=Node,involvedObject.name=${name},reason=${reason}`;
  return eventually(
    `node ${name} to have an event ${reason}`,
    WAIT_MS,
    async () => {
      const [event] = await harness.kube.items(`/api/v1/events?fieldSelector=${selector}`);
      return (
        event && `${String(event["type"])} ${String(at(event, "source", "component"))}: ${String(event["message"])}`
      );
    },
    () => harness.outputs(),
  );
}

describe("node-ipam on a real control plane", () => {
  test("gives 50 nodes a range of each family, without a provider, and changes none at a restart", async () => {
    const own = ["10.120.8.0/24", "fd00:120:0:7::/64"];
    await register("preset", ...own);
    await register("outside", "172.16.0.0/24");
    const args = ["10.120.0.0/18,fd00:120::/56", "--service-cluster-ip-range=10.120.0.0/22,fd00:120::/62"] as const;
    const first = startController(...args);
    const joining = names("n", 50);
    await registerAll(joining);
    const ranges = await ranged(joining, 2);
    expect(twice(ranges)).toEqual([]);
    expect([ranges.get("preset"), ranges.get("outside")]).toEqual([own, ["172.16.0.0/24"]]);
    const given = joining.flatMap((name) => ranges.get(name) ?? []);
    expect(given.filter((range) => !/^(?:10\.120\.\d+\.0\/24|fd00:120:0:[0-9a-f]{1,2}::\/64)$/.test(range))).toEqual(
      [],
    );
    expect(given.filter((range) => /^(?:10\.120\.[0-3]\.|fd00:120:(?:0:[123])?:)/.test(range))).toEqual([]);
    await first.said(/outside 172\.16\.0\.0\/24/, WAIT_MS);
    await first.stop();

    startController(...args);
    await registerAll(["late-0", "late-1"]);
    const later = await ranged(["late-0", "late-1"], 2);
    expect(twice(later)).toEqual([]);
    expect(joining.map((name) => later.get(name))).toEqual(joining.map((name) => ranges.get(name)));
  });

  test("says that no range is left, and gives the next that comes free", async () => {
    startController("10.130.0.0/22,fd00:130::/63");
    await registerAll(["e-0", "e-1"]);
    await ranged(["e-0", "e-1"], 2);
    await register("e-2");
    expect(await eventAbout("e-2", "CIDRNotAvailable")).toBe(
      "Normal cidrAllocator: Node e-2 status is now: CIDRNotAvailable",
    );
    const before = await allRanges();
    expect(before.get("e-2")).toEqual([]);
    await harness.kube.delete("/api/v1/nodes/e-0");
    const after = await ranged(["e-2"], 2);
    expect([after.get("e-2")?.[1], twice(after)]).toEqual([before.get("e-0")?.[1], []]);
  });

  test("gives no range twice when it is killed in the middle and when another leader takes over", async () => {
    const cluster = "10.140.0.0/16";
    const first = startController(cluster);
    const joining = names("k", 30);
    const registering = registerAll(joining);
    await eventually("the first ranges to be given", WAIT_MS, async () =>
      [...(await allRanges()).values()].some(({ length }) => length > 0) ? true : undefined,
    );
    await first.stop("SIGKILL");
    await registering;
    const second = startController(cluster, "--leader-elect=true");
    await second.said(/Controller started/, WAIT_MS);
    const third = startController(cluster, "--leader-elect=true");
    await ranged(joining, 1);
    const more = names("m", 30);
    const registeringMore = registerAll(more);
    await second.stop();
    await registeringMore;
    await third.said(/Controller started/, WAIT_MS);
    expect(twice(await ranged([...joining, ...more], 1))).toEqual([]);
  });

  test("writes the ranges that the cloud has allocated for the machines", async () => {
    await harness.startSidecar();
    const machines = names("c", 5);
    await harness.createMachines(machines.map((name) => ({ name, zone: "north-a", podCidr: true, ipv6: true })));
    await harness.createMachines([
      { name: "bare", zone: "north-a" },
      { name: "own", zone: "north-a", podCidr: true },
    ]);
    await register("own", "10.1.2.0/24");
    const allocator = "--cidr-allocator-type=CloudAllocator";
    harness.startController({
      args: ["--controllers=cloud-node,nodeipam", "--allocate-node-cidrs", allocator, "--leader-elect=false"],
    });
    await registerAll([...machines, "bare"]);
    const ranges = await ranged(machines, 2);
    const { items } = await harness.cloud.listInstances(
      { pageSize: 100, consistent: true },
      AbortSignal.timeout(CALL_MS),
    );
    const allocated = new Map(items.map(({ name, podCidrs }) => [name, podCidrs]));
    expect(machines.map((name) => ranges.get(name))).toEqual(machines.map((name) => allocated.get(name)));
    expect(ranges.get("own")).toEqual(["10.1.2.0/24"]);
    expect(await eventAbout("bare", "CIDRNotAvailable")).toBe(
      "Normal cidrAllocator: Node bare status is now: CIDRNotAvailable: the cloud has not allocated a pod CIDR yet",
    );
  });

  test("gives node-route what to route", async () => {
    await harness.startSidecar();
    await harness.createMachines([{ name: "r-0", zone: "north-a" }]);
    harness.startController({
      args: [
        "--controllers=cloud-node,route,nodeipam",
        "--allocate-node-cidrs",
        "--cluster-cidr=10.150.0.0/16",
        "--leader-elect=false",
      ],
    });
    await register("r-0");
    const ranges = await ranged(["r-0"], 1);
    const routed = await eventually(
      "a route",
      WAIT_MS,
      async () => {
        const page = await harness.cloud.listRoutes({ pageSize: 100, consistent: true }, AbortSignal.timeout(CALL_MS));
        return page.items.length === 0 ? undefined : page.items.map(({ destination }) => destination);
      },
      () => harness.outputs(),
    );
    expect(routed).toEqual(ranges.get("r-0"));
  });

  test("says why it allocates nothing", async () => {
    const off = harness.startController({ args: ["--controllers=nodeipam", "--leader-elect=false"] });
    const unnamed = harness.startController({
      args: ["--controllers=cloud-node", "--allocate-node-cidrs", "--leader-elect=false"],
    });
    const said = await Promise.all(
      [off, unnamed].map((program) => program.said(/Pod CIDRs are not allocated.*/, WAIT_MS)),
    );
    expect(said.map(([line]) => line)).toEqual([
      expect.stringContaining("--allocate-node-cidrs is false"),
      expect.stringContaining("the controller is off unless --controllers names it"),
    ]);
  });

  test("can rely on the server to refuse other ranges and other nodes", async () => {
    const uid = at(await register("s", "10.0.0.0/24"), "metadata", "uid");
    const patch = (body: object) => harness.kube.send("PATCH", "/api/v1/nodes/s", body);
    const ranges = (podCIDR: string) => ({ podCIDR, podCIDRs: [podCIDR] });
    const answers = await Promise.all([
      patch({ metadata: { uid }, spec: ranges("10.0.0.0/24") }),
      patch({ metadata: { uid }, spec: ranges("10.0.1.0/24") }),
      patch({ metadata: { uid: "00000000-0000-0000-0000-000000000000" }, spec: ranges("10.0.0.0/24") }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 422, 422]);
  });
});
