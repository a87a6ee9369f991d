import { createLogger, startProvider } from "@cloudwire/provider-sdk";
import { createSimulatedProvider } from "@cloudwire/provider-simulated";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at, listOf } from "../../../support/kube.ts";
import type { Program } from "../../../support/program.ts";
import { shareWithContainers } from "../support/containers.ts";
import { eachHarness } from "../support/each-harness.ts";
import { LEASE } from "../support/lease.ts";
import { inParallel, numbered } from "../support/ready-machines.ts";
import { API_KEY, type Harness } from "../support/harness.ts";

const LB_FINALIZER = "service.kubernetes.io/load-balancer-cleanup";
const NODES = 200;
const SERVICES = 20;
/** Each load balancer has an address of its own. */
const PORT = 8290;
/** Calls of the cloud take so long that some are under way whenever the sidecar ends. */
const LATENCY_MS = 150;

let harness: Harness;

eachHarness((fresh) => {
  harness = fresh;
});

const lead = async () => {
  const lease = await harness.kube.get(LEASE);
  return { identity: at(lease, "spec", "holderIdentity"), transitions: at(lease, "spec", "leaseTransitions") };
};

const times = (program: Program, text: string): number => program.output.split(text).length - 1;

async function connectedTimes(controller: Program, count: number): Promise<void> {
  await eventually(
    `the provider to be connected ${count} times`,
    30_000,
    async () => (times(controller, "Connected to provider") >= count ? true : undefined),
    () => harness.outputs(),
  );
}

const service = (name: string): string => `/api/v1/namespaces/default/services/${name}`;

/** Waits for the Service's condition to have that reason. */
const says = (name: string, reason: string): Promise<true> =>
  eventually(
    `${name} to say ${reason}`,
    30_000,
    async () => {
      const conditions = listOf(at(await harness.kube.get(service(name)), "status", "conditions"));
      const ready = conditions.find(({ type }) => type === "cloudwire.dev/LoadBalancerReady");
      return ready?.["reason"] === reason ? true : undefined;
    },
    () => harness.outputs(),
  );

describe("a sidecar that is replaced by one of another version", () => {
  test("while 200 nodes and 20 Services are worked on, loses no work and makes nothing twice", async () => {
    const [nodes, services] = [numbered("u", NODES), numbered("svc", SERVICES)];
    await harness.createMachines(nodes.map((name) => ({ name, zone: "north-a" })));
    const old = await harness.startSidecar();
    const controller = harness.startController();
    await controller.said(/Became leader/);
    const before = await lead();
    const { pid } = controller;
    await harness.admin.change({ latency: { "*": { fixedMs: LATENCY_MS, jitterMs: 0 } } });
    const registered = Promise.all([
      inParallel(nodes, (name) => harness.registerNode(name)),
      inParallel(services, async (name) => void (await harness.createService(name, PORT))),
    ]);
    await harness.inFlight("loadBalancers.create");

    expect(await old.stop("SIGTERM")).toEqual({ code: 0, signal: null });
    await harness.startSidecar({ args: ["--in-tree-plugin=kubernetes.io/cinder", "--cloud-call-rate=500:500"] });
    await connectedTimes(controller, 2);

    await registered;
    for (const name of nodes) await harness.initialized(name, 60_000);
    for (const name of services) await harness.addressed(name, 60_000);
    const balancers = await harness.loadBalancers();
    expect(new Set(balancers.map(({ name }) => name)).size).toBe(SERVICES);
    expect(balancers).toHaveLength(SERVICES);
    expect(await harness.kube.items("/api/v1/nodes")).toHaveLength(NODES);
    expect({ pid: controller.pid, running: controller.running }).toEqual({ pid, running: true });
    expect(await lead()).toEqual(before);
    await controller.said(/Capabilities of provider changed.*inTreePlugins: \[\] -> /);
  });

  test("while the old one still serves, ends and leaves it the socket", async () => {
    const old = await harness.startSidecar();
    const controller = harness.startController();
    await controller.said(/Became leader/);
    await expect(harness.startSidecar()).rejects.toThrow(/another process listens on .*provider\.sock/);
    await harness.createMachines([{ name: "o-1", zone: "north-a" }]);
    await harness.registerNode("o-1");
    await harness.initialized("o-1");
    expect(times(controller, "Connected to provider")).toBe(1);
    expect(await old.stop("SIGTERM")).toEqual({ code: 0, signal: null });
    await harness.startSidecar();
    await connectedTimes(controller, 2);
  });

  test("that serves no load balancers leaves what there is, deletions included, until one does again", async () => {
    const old = await harness.startSidecar();
    const controller = harness.startController();
    await controller.said(/Became leader/);
    await harness.createService("early", PORT);
    await harness.createService("kept", PORT + 2);
    await harness.addressed("early");
    const address = await harness.addressed("kept");
    const balancers = await harness.loadBalancers();
    await old.stop("SIGTERM");
    const definition = createSimulatedProvider({ url: harness.cloudUrl, apiKey: () => API_KEY, callTimeoutMs: 10_000 });
    const poorer = await startProvider(
      { ...definition, version: "0.2.0", loadBalancers: undefined },
      {
        endpoint: { kind: "unix", path: harness.socket },
        log: createLogger({ level: "error", write: () => undefined, now: () => new Date() }),
        drainMs: 100,
      },
    );
    onTestFinished(() => poorer.close());
    await shareWithContainers(harness.socket);
    await controller.said(/Capabilities of provider changed.*disappeared=\["capabilities.loadBalancers"\]/);
    await harness.createService("late", PORT + 1);
    await harness.kube.delete(service("early"));
    await controller.said(/Ignored Service: it has no load balancer provider[^\n]*late/);
    await says("early", "NoLoadBalancerProvider");
    await says("kept", "NoLoadBalancerProvider");
    const events = await eventually("the event", 30_000, async () => {
      const reasons = await harness.eventReasons("Service", "kept");
      return reasons.includes("NoLoadBalancerProvider") ? reasons : undefined;
    });
    expect(events.filter((reason) => reason === "NoLoadBalancerProvider")).toHaveLength(1);
    expect(await harness.loadBalancers()).toEqual(balancers);
    expect(await harness.addressed("kept")).toBe(address);
    expect(at(await harness.kube.get(service("early")), "metadata", "finalizers")).toEqual([LB_FINALIZER]);

    await poorer.close();
    await harness.startSidecar();
    await harness.addressed("late");
    // There are no nodes in this cluster.
    await says("kept", "NoAvailableNodes");
    expect(await harness.addressed("kept")).toBe(address);
    await eventually("the deletion to be carried out", 30_000, async () =>
      (await harness.kube.find(service("early"))) === undefined ? true : undefined,
    );
    const left = (await harness.loadBalancers()).map(({ id }) => id);
    expect(balancers.filter(({ id }) => left.includes(id))).toHaveLength(1);
  });
});
