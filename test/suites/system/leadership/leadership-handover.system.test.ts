import { type AuditEvent, buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type CloudCall, CloudProxy } from "../../parity/peers/cloud-proxy.ts";
import { buildUpstream } from "../../parity/upstream/module.ts";
import { eventually } from "../../../support/eventually.ts";
import { at } from "../../../support/kube.ts";
import { Program } from "../../../support/program.ts";
import { type Handover, LEASE, handovers, renewals } from "../support/lease.ts";
import { Replica } from "../support/replica.ts";
import { API_KEY, Harness } from "../support/harness.ts";

/** Both programs' defaults. */
const LEASE_MS = 15_000;
const RETRY_MS = 2000;
/** The longest pause of client-go between two looks at the lease. */
const POLL_MS = 2.2 * RETRY_MS;
/** For two requests on a busy machine. */
const REQUESTS_MS = 1000;
const WRITES = new Set(["create", "update", "patch", "delete"]);

let controlPlane: ControlPlane;
let harness: Harness;
let first: Replica;
let second: Replica;
/** Between each side and the cloud: who called what. */
let proxies: Readonly<Record<"ours" | "upstream", CloudProxy>>;
let upstreamPath: string;
let startMs: number;

beforeAll(async () => {
  await buildControlPlane();
  upstreamPath = await buildUpstream();
  controlPlane = await startControlPlane({ audit: { users: ["ours", "upstream"], level: "Request" } });
}, 60 * 60_000);
beforeEach(async () => {
  startMs = Date.now();
  harness = await Harness.start(controlPlane);
  proxies = { ours: await CloudProxy.start(harness.cloudUrl), upstream: await CloudProxy.start(harness.cloudUrl) };
  const { path: kubeconfigPath } = await controlPlane.kubeconfigFor("ours", ["system:masters"]);
  const pod = { kubeconfigPath, cloudUrl: proxies.ours.url, apiKey: API_KEY };
  [first, second] = [await Replica.create(pod), await Replica.create(pod)];
});
afterEach(async () => {
  await Promise.all([first[Symbol.asyncDispose](), second[Symbol.asyncDispose]()]);
  await Promise.all(Object.values(proxies).map((proxy) => proxy[Symbol.asyncDispose]()));
  await harness[Symbol.asyncDispose]();
});
afterAll(() => controlPlane.stop());

/** Upstream's controllers as a vendor links them, with upstream's default timings. */
async function startUpstream(): Promise<Program> {
  const { path } = await controlPlane.kubeconfigFor("upstream", ["system:masters"]);
  const clusterId = String(at(await harness.kube.get("/api/v1/namespaces/kube-system"), "metadata", "uid"));
  const program = new Program({
    command: upstreamPath,
    args: [
      `--kubeconfig=${path}`,
      "--cloud-provider=simulated",
      "--secure-port=0",
      "--authentication-skip-lookup",
      "--controllers=*,-node-route-controller",
      "-v=4",
    ],
    env: { SIMCLOUD_URL: proxies.upstream.url, SIMCLOUD_API_KEY: API_KEY, SIMCLOUD_CLUSTER_ID: clusterId },
  });
  onTestFinished(() => program[Symbol.asyncDispose]());
  return program;
}

/** A controller of ours that waits for the lease with everything in place. */
async function startStandby(of: Replica): Promise<Program> {
  const controller = of.startController();
  await controller.said(/Waiting for leadership/);
  await controller.said(/Connected to provider/);
  await controller.said(/Watching.*services/);
  await controller.said(/Watching.*nodes/);
  // One that it has seen.
  await renewals(harness.kube, 1);
  return controller;
}

async function changesOfHands(count: number): Promise<readonly Handover[]> {
  return eventually(
    `the lease to change hands for the ${count}th time`,
    60_000,
    async () => {
      const all = await handovers(controlPlane, startMs);
      return all.length >= count ? all : undefined;
    },
    () => `${first.output}\n----\n${second.output}`,
  );
}

/** What a side wrote to the API server, but for its lease, its events, and conditions: only we have one of Services. */
async function writesOf(user: string): Promise<readonly string[]> {
  const isOne = (event: AuditEvent): boolean =>
    event.user === user &&
    Date.parse(event.receivedAt) >= startMs &&
    WRITES.has(event.verb) &&
    event.stage === "ResponseComplete" &&
    !["leases", "events"].includes(event.resource ?? "") &&
    !isOfConditions(event.requestObject);
  const events = (await controlPlane.auditEvents()).filter(isOne);
  return events.map(({ verb, resource = "", subresource = "", name = "" }) =>
    [verb, resource, subresource, name].filter((part) => part !== "").join(" "),
  );
}

function isOfConditions(patch: unknown): boolean {
  const status = at(patch, "status");
  return typeof status === "object" && status !== null && Object.keys(status).join() === "conditions";
}

/** What a side changed in the cloud. */
function changesBy(side: "ours" | "upstream"): readonly CloudCall[] {
  const isRead = ({ method, path }: CloudCall): boolean => method === "GET" || path.startsWith("/v1/instances/lookup");
  return proxies[side].calls.filter((call) => !isRead(call));
}

/** What users see of a Service: its address, and which load balancer of the cloud has it. */
async function served(name: string): Promise<unknown> {
  const service = await harness.kube.get(`/api/v1/namespaces/default/services/${name}`);
  return {
    status: at(service, "status", "loadBalancer"),
    finalizers: at(service, "metadata", "finalizers"),
    balancers: (await harness.loadBalancers()).map(({ id, address }) => [id, address]),
  };
}

/** Where the only load balancer forwards to. */
async function targets(): Promise<readonly string[]> {
  const [balancer] = await harness.loadBalancers();
  return harness.targetNames(balancer?.id ?? "");
}

const settledAt = (program: Program): Promise<unknown> =>
  program.said(/Reconciled.*service-lb-controller.*default\/kept.*success/);

describe("our controller and upstream's with the same Lease", () => {
  test("take turns by the lease's rules, and a handover leaves nodes and load balancers as they are", async () => {
    await first.startSidecar();
    await harness.createMachines(["n-1", "n-2", "n-3"].map((name) => ({ name, zone: "north-a" })));
    const upstream = await startUpstream();
    await harness.registerNode("n-1");
    await harness.initialized("n-1");
    await harness.createService("kept", 8080);
    await harness.addressed("kept");
    const before = await served("kept");
    expect(await targets()).toEqual(["n-1"]);

    const ours = await startStandby(first);
    expect([await writesOf("ours"), changesBy("ours")]).toEqual([[], []]);

    await upstream.stop("SIGTERM");
    const [toOurs] = await changesOfHands(1);
    expect(toOurs).toMatchObject({ from: "upstream", to: "ours", isReleased: false });
    expect(toOurs?.gapMs).toBeGreaterThanOrEqual(LEASE_MS);
    expect(toOurs?.gapMs).toBeLessThan(LEASE_MS + RETRY_MS);
    await settledAt(ours);
    expect(changesBy("ours")).toEqual([]);
    expect(await targets()).toEqual(["n-1"]);
    await harness.registerNode("n-2");
    await harness.initialized("n-2");
    expect((await writesOf("ours")).filter((write) => !write.endsWith("n-2"))).toEqual([]);
    expect(await served("kept")).toEqual(before);

    const back = await startUpstream();
    await back.said(/attempting to acquire leader lease/i);
    expect(await ours.stop("SIGTERM")).toEqual({ code: 0, signal: null });
    const [, toUpstream] = await changesOfHands(2);
    expect(toUpstream).toMatchObject({ from: "ours", to: "upstream", isReleased: true });
    expect(toUpstream?.gapMs).toBeLessThan(POLL_MS + REQUESTS_MS);
    await harness.registerNode("n-3");
    await harness.initialized("n-3");
    expect(await served("kept")).toEqual(before);

    // As a program does that releases its lease at its end.
    const again = await startStandby(first);
    await back.stop("SIGKILL");
    const releasedAtMs = Date.now();
    await harness.kube.patch(LEASE, { spec: { holderIdentity: "", leaseDurationSeconds: 1 } });
    const [, , toOursAgain] = await changesOfHands(3);
    expect(toOursAgain).toMatchObject({ from: "upstream", to: "ours" });
    expect(Number(toOursAgain?.takenAtMs) - releasedAtMs).toBeLessThan(RETRY_MS);
    await settledAt(again);
    expect(await served("kept")).toEqual(before);
  });
});

describe("two of our controllers with the timings they have by default", () => {
  test("hand over in less than two seconds when one is asked to end, and after the lease when one is killed", async () => {
    await Promise.all([first.startSidecar(), second.startSidecar()]);
    const leader = first.startController();
    await leader.said(/Became leader/);
    const standby = await startStandby(second);
    const askedAtMs = Date.now();
    expect(await leader.stop("SIGTERM")).toEqual({ code: 0, signal: null });
    const [graceful] = await changesOfHands(1);
    expect(graceful).toMatchObject({ isReleased: true });
    expect(Number(graceful?.takenAtMs) - askedAtMs).toBeLessThan(2000);
    await standby.said(/Became leader/);

    await startStandby(first);
    const killedAtMs = Date.now();
    await standby.stop("SIGKILL");
    const [, afterDeath] = await changesOfHands(2);
    expect(afterDeath).toMatchObject({ isReleased: false });
    expect(afterDeath?.gapMs).toBeGreaterThanOrEqual(LEASE_MS);
    expect(Number(afterDeath?.takenAtMs) - killedAtMs).toBeLessThan(LEASE_MS + 2000);
  });
});
