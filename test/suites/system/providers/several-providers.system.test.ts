import { afterEach, describe, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, type Json, listOf } from "../../../support/kube.ts";
import type { Program } from "../../../support/program.ts";
import { eachHarness } from "../support/each-harness.ts";
import { inParallel, numbered } from "../support/ready-machines.ts";
import { SecondCloud } from "../support/providers/second-cloud.ts";
import { GROWN, type NodeParts, UNINITIALIZED, type Harness } from "../support/harness.ts";

const CALL_MS = 10_000;
const ZONE = "north-a";
const CLOUD_LABEL = "node-restriction.kubernetes.io/cloud";
/** Of the second cloud. */
const WEST_CLASS = "west.simulated.cloudwire.dev/standard";

/** The first cloud, `simulated`, and everything else. */
let harness: Harness;
let west: SecondCloud;

eachHarness(async (fresh) => {
  harness = fresh;
  west = await SecondCloud.start();
});
afterEach(async () => {
  await west[Symbol.asyncDispose]();
});

async function startAll(...args: readonly string[]): Promise<Program> {
  await Promise.all([harness.startSidecar(), west.startSidecar()]);
  return startController(...args);
}

function startController(...args: readonly string[]): Program {
  return harness.startController({ args: ["--leader-elect=false", west.flag, ...args] });
}

interface OwnParts extends Pick<NodeParts, "labels" | "ageMs"> {
  readonly providerID?: string | undefined;
  readonly podCIDR?: string;
}

/** A Node as its kubelet registers it. */
async function register(name: string, { providerID, podCIDR, ...parts }: OwnParts = {}): Promise<void> {
  const podCIDRs = podCIDR === undefined ? undefined : [podCIDR];
  await harness.registerNode(name, { ...parts, spec: { providerID, podCIDR, podCIDRs } });
}

const machine = (name: string) => ({ name, zone: ZONE });

async function eastMachines(...names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const made = await harness.cloud.createInstances(names.map(machine), AbortSignal.timeout(CALL_MS));
  return new Map(made.map(({ name, zone, id }) => [name, `sim://${zone}/${id}`]));
}

const westMachines = (...names: readonly string[]) => west.createMachines(names.map(machine));

const providerIdOf = (node: Json): string => String(at(node, "spec", "providerID"));

/** Waits until the Node is initialized and answers its provider ID. */
const idOf = async (name: string, timeoutMs?: number): Promise<string> =>
  providerIdOf(await harness.initialized(name, timeoutMs));

async function eventAbout(kind: string, name: string, text: RegExp): Promise<void> {
  await eventually(
    `an event about ${name} that says ${text}`,
    30_000,
    async () => {
      const selector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
      const events = await harness.kube.items(`/api/v1/events?fieldSelector=${selector}`);
      return events.some((event) => text.test(String(event["message"]))) ? true : undefined;
    },
    () => harness.outputs(),
  );
}

async function expectUntouched(name: string): Promise<void> {
  const node = await harness.kube.get(`/api/v1/nodes/${name}`);
  expect(at(node, "spec", "providerID")).toBeUndefined();
  expect(listOf(at(node, "spec", "taints"))).toContainEqual({
    key: UNINITIALIZED,
    value: "true",
    effect: "NoSchedule",
  });
}

async function readyz(controller: Program): Promise<{ readonly status: number; readonly text: string }> {
  const [, url] = await controller.said(/health=(http:\S+)/);
  const answer = await fetch(`${url}/readyz?verbose`, { signal: AbortSignal.timeout(CALL_MS) });
  return { status: answer.status, text: await answer.text() };
}

describe("nodes of two clouds", () => {
  test("are initialized by prefix and by claim; a name in both is no one's until it is in one", async () => {
    const eastIds = await eastMachines("east-id", "east-name", "twin");
    const westIds = await westMachines("west-id", "west-name", "twin");
    const controller = await startAll();
    await register("east-id", { providerID: eastIds.get("east-id") });
    await register("west-id", { providerID: westIds.get("west-id") });
    for (const name of ["east-name", "west-name", "twin", "unowned"]) await register(name);
    await register("foreign", { providerID: "gce://project/zone/instance" });
    for (const name of ["east-id", "east-name"]) expect(await idOf(name)).toBe(eastIds.get(name));
    for (const name of ["west-id", "west-name"]) expect(await idOf(name)).toBe(westIds.get(name));
    await eventAbout("Node", "twin", /simulated and west could own node twin: each has an instance of that name/);
    await expectUntouched("twin");
    await expectUntouched("unowned");
    expect(await harness.metric(controller, /^cloudwire_nodes\{provider="simulated",state="owned"/)).toBe(2);
    expect(await harness.metric(controller, /^cloudwire_nodes\{provider="west",state="owned"/)).toBe(2);
    expect(await harness.metric(controller, /^cloudwire_nodes\{provider="",state="unowned"/)).toBe(1);
    expect(await harness.metric(controller, /^cloudwire_nodes\{provider="",state="undecided"/)).toBe(2);

    // The one in the east goes; changes of the Node have it looked at before its time, and looks of one second share an answer.
    const [, id = ""] = /([^/]+)$/.exec(eastIds.get("twin") ?? "") ?? [];
    await harness.cloud.terminateInstances([id], AbortSignal.timeout(CALL_MS));
    await eventually(
      "the twin to be the west's",
      30_000,
      async () => {
        const labels = { touched: String(Date.now()) };
        const node = await harness.kube.patch("/api/v1/nodes/twin", { metadata: { labels } });
        return at(node, "spec", "providerID") === undefined ? undefined : true;
      },
      () => harness.outputs(),
    );
    expect(await idOf("twin")).toBe(westIds.get("twin"));
  });

  test("are initialized by label, with the other cloud's sidecar away", async () => {
    await eastMachines("labeled", "plain");
    const westIds = await westMachines("labeled");
    await west.startSidecar();
    const controller = startController(`--provider-node-selector=west=${CLOUD_LABEL} in (west,wild)`);
    await register("labeled", { labels: { [CLOUD_LABEL]: "west" } });
    await register("plain", { labels: { [CLOUD_LABEL]: "east" } });
    expect(await idOf("labeled")).toBe(westIds.get("labeled"));
    await expectUntouched("plain");
    const health = await eventually("readyz to say what is away", 20_000, async () => {
      const now = await readyz(controller);
      return /^\[\+\]provider-simulated ok, but: .*provider\.sock/m.test(now.text) ? now : undefined;
    });
    expect(health.text).toContain("[+]provider ok\n");
    expect(health.text).toContain("[+]provider-west ok\n");
    expect(health.status).toBe(200);
    await harness.startSidecar();
    expect(await idOf("plain")).toMatch(/^sim:/);
  });

  test("wait for a cloud that may have a machine of the same name", async () => {
    await eastMachines("waits");
    await harness.startSidecar();
    const controller = startController();
    await controller.said(/Connected to provider/);
    await register("waits");
    await controller.said(/west.*(?:does not exist|not connected|cannot determine)/);
    await expectUntouched("waits");
    await west.startSidecar();
    expect(await idOf("waits")).toMatch(/^sim:/);
  });
});

describe("Services of two clouds", () => {
  const names = async (cloud: Harness["cloud"]): Promise<readonly string[]> => {
    const page = await cloud.listLoadBalancers({ pageSize: 500, consistent: true }, AbortSignal.timeout(CALL_MS));
    return page.items.map(({ tags }) => JSON.stringify(tags));
  };
  const uidOf = async (name: string): Promise<string> =>
    String(at(await harness.kube.get(`/api/v1/namespaces/default/services/${name}`), "metadata", "uid"));

  test("go by class, and without class to the default provider, each with its own nodes", async () => {
    await Promise.all([eastMachines("e-1"), westMachines("w-1")]);
    await startAll("--default-load-balancer-provider=west");
    for (const name of ["e-1", "w-1"]) await register(name);
    for (const name of ["e-1", "w-1"]) await harness.initialized(name);
    await harness.createService("plain", 8081);
    await harness.createService("west", 8082, { loadBalancerClass: WEST_CLASS });
    await harness.createService("east", 8083, { loadBalancerClass: "simulated.cloudwire.dev/standard" });
    for (const name of ["plain", "west", "east"]) await harness.addressed(name);
    expect(await names(harness.cloud)).toEqual([expect.stringContaining(await uidOf("east"))]);
    const inWest = await names(west.cloud);
    expect(inWest).toHaveLength(2);
    for (const name of ["plain", "west"]) expect(inWest.join()).toContain(await uidOf(name));
    const [balancer] = await harness.loadBalancers();
    await eventually("the east's node to be a target", 20_000, async () => {
      const targets = await harness.targetNames(balancer?.id ?? "");
      return targets.join() === "e-1" ? true : undefined;
    });
  });

  test("of a class that both serve are no one's, and say so", async () => {
    // Both are the same brand now.
    await Promise.all([harness.startSidecar({ args: ["--brand=west"] }), west.startSidecar()]);
    const controller = startController();
    await controller.said(/Declarations of providers conflict/);
    await harness.createService("conflicting", 8084, { loadBalancerClass: WEST_CLASS });
    await eventAbout("Service", "conflicting", /several providers serve load-balancer class .*\(simulated and west\)/);
    expect(await names(harness.cloud)).toEqual([]);
    expect(await names(west.cloud)).toEqual([]);
    expect((await readyz(controller)).text).toMatch(
      /^\[\+\]provider-west ok, but: .*the same provider-ID prefix west:/m,
    );
    expect(await harness.metric(controller, /^cloudwire_ownership_conflicts\{/)).toBe(3);
  });
});

test("routes of two clouds are each in their own", async () => {
  await Promise.all([eastMachines("e-1"), westMachines("w-1")]);
  await startAll("--cluster-cidr=10.120.0.0/16", "--controllers=cloud-node,route");
  await register("e-1", { podCIDR: "10.120.1.0/24" });
  await register("w-1", { podCIDR: "10.120.2.0/24" });
  const destinations = async (cloud: Harness["cloud"]): Promise<string> => {
    const page = await cloud.listRoutes({ pageSize: 100, consistent: true }, AbortSignal.timeout(CALL_MS));
    return page.items.map(({ destination }) => destination).join();
  };
  await eventually(
    "a route in each cloud",
    30_000,
    async () =>
      (await destinations(harness.cloud)) !== "" && (await destinations(west.cloud)) !== "" ? true : undefined,
    () => harness.outputs(),
  );
  expect([await destinations(harness.cloud), await destinations(west.cloud)]).toEqual([
    "10.120.1.0/24",
    "10.120.2.0/24",
  ]);
});

/** A fraction of the defaults, so that an outage lasts for longer than deletions take. */
const QUICK = ["--node-monitor-period=1s", "--node-deletion-confirmation-period=3s"];

async function loseHeartbeats(names: readonly string[], status: "False" | "Unknown"): Promise<void> {
  await inParallel(names, (name) => harness.reportReady(name, status));
}

describe("an outage of one cloud", () => {
  test("deletes none of its nodes, and the other's go on joining and leaving", async () => {
    const [easts, wests] = [numbered("e", 8), numbered("w", 8)];
    const eastIds = await eastMachines(...easts);
    const westIds = await westMachines(...wests);
    await Promise.all(easts.map((name) => register(name, { ...GROWN, providerID: eastIds.get(name) })));
    await Promise.all(wests.map((name) => register(name, { ...GROWN, providerID: westIds.get(name) })));
    await harness.startSidecar();
    let westSidecar = await west.startSidecar("--call-timeout-ms=3000");
    const controller = startController(...QUICK);
    await Promise.all([...easts, ...wests].map((name) => harness.initialized(name)));

    const outages = [
      { begin: () => westSidecar.stop("SIGKILL"), end: async () => void (westSidecar = await west.startSidecar()) },
      { begin: () => west.admin.addFault({ kind: "hang" }), end: () => west.admin.clearFaults() },
      { begin: () => west.admin.addFault({ kind: "falseAbsence" }), end: () => west.admin.clearFaults() },
    ];
    for (const [index, { begin, end }] of outages.entries()) {
      await begin();
      await loseHeartbeats([...easts, ...wests], index % 2 === 0 ? "Unknown" : "False");
      const joining = `joins-${index}`;
      const ids = await eastMachines(joining);
      await register(joining, { providerID: ids.get(joining) });
      expect(await idOf(joining)).toBe(ids.get(joining));
      const leaving = easts[index] ?? "";
      const [, id = ""] = /([^/]+)$/.exec(eastIds.get(leaving) ?? "") ?? [];
      await harness.cloud.terminateInstances([id], AbortSignal.timeout(CALL_MS));
      await eventually(
        `node ${leaving} to go`,
        60_000,
        async () => ((await harness.kube.find(`/api/v1/nodes/${leaving}`)) === undefined ? true : undefined),
        () => harness.outputs().slice(-8000),
      );
      await end();
    }
    // Whatever west reported: its last false report alone would have deleted nodes of fewer than the circuit breaker allows.
    for (const name of wests) expect(await harness.kube.find(`/api/v1/nodes/${name}`)).toBeDefined();
    expect(await harness.metric(controller, /^cloudwire_node_deletions_total\{provider="west"/)).toBe(0);
    expect(await harness.metric(controller, /^cloudwire_node_deletions_total\{provider="simulated"/)).toBe(
      outages.length,
    );
  });

  test("with 500 of its nodes waiting for an answer that does not come holds up no node of the other", async () => {
    const waiting = numbered("w", 500);
    const westIds = await west.createMachines(waiting.map(machine));
    const eastIds = await eastMachines("e-1", "e-2");
    // Longer than the call's own deadline, 30 s: no one who waits for it is let go before.
    await Promise.all([harness.startSidecar(), west.startSidecar("--call-timeout-ms=120000")]);
    startController();
    await west.admin.addFault({ kind: "hang", operation: "instances.lookup" });
    await inParallel(waiting, (name) => register(name, { providerID: westIds.get(name) }));
    await eventually("the look-ups to hang", 20_000, async () => {
      const { operations } = await west.admin.calls();
      return operations.some(({ operation, inFlight }) => operation === "instances.lookup" && inFlight > 0)
        ? true
        : undefined;
    });
    const startedAtMs = Date.now();
    for (const name of ["e-1", "e-2"]) await register(name, { providerID: eastIds.get(name) });
    for (const name of ["e-1", "e-2"]) expect(await idOf(name, 20_000)).toBe(eastIds.get(name));
    expect(Date.now() - startedAtMs).toBeLessThan(25_000);
  });

  test("with more of its Services waiting than there are workers holds up no Service of the other", async () => {
    await eastMachines("e-1");
    await startAll("--concurrent-service-syncs=2");
    await register("e-1");
    await harness.initialized("e-1");
    await west.admin.addFault({ kind: "hang", operation: "loadBalancers.*" });
    for (const name of numbered("hangs", 6)) await harness.createService(name, 8090, { loadBalancerClass: WEST_CLASS });
    await eventually("a call to hang", 20_000, async () => {
      const { operations } = await west.admin.calls();
      return operations.some(({ operation, inFlight }) => operation.startsWith("loadBalancers.") && inFlight > 0)
        ? true
        : undefined;
    });
    await harness.createService("goes-on", 8091);
    expect(await harness.addressed("goes-on", 20_000)).toMatch(/^127\./);
    const { operations } = await west.admin.calls();
    expect(
      operations.filter(({ operation, inFlight }) => operation.startsWith("loadBalancers.") && inFlight > 0),
    ).not.toEqual([]);
  });
});
