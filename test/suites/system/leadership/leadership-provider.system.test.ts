import { afterEach, expect, test } from "vitest";
import { eventually } from "../../../support/eventually.ts";
import { at } from "../../../support/kube.ts";
import { eachHarness } from "../support/each-harness.ts";
import { LEASE, renewals } from "../support/lease.ts";
import { Replica } from "../support/replica.ts";
import { API_KEY, type Harness } from "../support/harness.ts";

const REQUESTED = "handover.cloudwire.dev/requested";
const CANDIDATE = "handover.cloudwire.dev/candidate";
const ARGS = [
  "--leader-elect-lease-duration=4s",
  "--leader-elect-renew-deadline=3s",
  "--leader-elect-retry-period=500ms",
  "--leader-elect-provider-timeout=3s",
] as const;

let harness: Harness;
let east: Replica;
let west: Replica;

eachHarness(async (fresh) => {
  harness = fresh;
  const { kubeconfigPath } = harness.controlPlane;
  const pod = { kubeconfigPath, cloudUrl: harness.cloudUrl, apiKey: API_KEY, args: ARGS };
  [east, west] = [await Replica.create(pod), await Replica.create(pod)];
});
afterEach(async () => {
  await Promise.all([east[Symbol.asyncDispose](), west[Symbol.asyncDispose]()]);
});

async function annotation(key: string, isThere: boolean): Promise<string | undefined> {
  const ask = async (): Promise<{ value: string | undefined } | undefined> => {
    const value = at(await harness.kube.get(LEASE), "metadata", "annotations", key);
    if ((value !== undefined) !== isThere) return undefined;
    return { value: typeof value === "string" ? value : undefined };
  };
  const what = `the lease to be ${isThere ? "with" : "without"} annotation ${key}`;
  const { value } = await eventually(what, 30_000, ask, () => `${east.output}\n----\n${west.output}`);
  return value;
}

test("a leader whose sidecar is gone makes way for a replica that has one, and for no one else", async () => {
  const eastSidecar = await east.startSidecar();
  const westSidecar = await west.startSidecar();
  const first = east.startController();
  await first.said(/Became leader/);
  const second = west.startController();
  await second.said(/Waiting for leadership/);
  await second.said(/Connected to provider/);
  await harness.createMachines(["n-1", "n-2"].map((name) => ({ name, zone: "north-a" })));
  await harness.registerNode("n-1");
  await harness.initialized("n-1");

  await eastSidecar.stop("SIGKILL");
  await second.said(/Became candidate for leadership.*unavailableProviders=\["simulated"\]/);
  await second.said(/Became leader/);
  expect(await first.exit()).toEqual({ code: 1, signal: null });
  expect(first.output).toMatch(/Requested a leadership handover.*simulated/);
  expect(first.output).toMatch(/Handing over leadership/);
  expect(first.output).toContain("Leadership released");
  await harness.registerNode("n-2");
  await harness.initialized("n-2");
  await annotation(REQUESTED, false);
  await annotation(CANDIDATE, false);
  await eventually("the events on the lease", 30_000, async () => {
    const reasons = await harness.eventReasons("Lease", "cloud-controller-manager");
    const wanted = ["LeaderProviderUnavailable", "LeadershipHandover"];
    return wanted.every((reason) => reasons.includes(reason)) ? true : undefined;
  });

  // Started again by its kubelet, still without sidecar.
  const third = east.startController();
  await third.said(/Waiting for leadership/);
  await westSidecar.stop("SIGKILL");
  const requested = JSON.parse(String(await annotation(REQUESTED, true)));
  expect(requested).toMatchObject({ unavailableProviders: ["simulated"], availableProviders: [] });
  // At each of them the leader looks for a replica that does better.
  await renewals(harness.kube, 8);
  expect(at(await harness.kube.get(LEASE), "spec", "holderIdentity")).toBe(requested.leader);
  expect(third.output).not.toMatch(/Became candidate for leadership|Became leader/);

  await east.startSidecar();
  await third.said(/Became leader/);
  expect(await second.exit()).toEqual({ code: 1, signal: null });
});
