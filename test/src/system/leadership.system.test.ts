import { buildControlPlane, type ControlPlane, startControlPlane } from "@cloudwire/control-plane";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { at } from "../support/kube.ts";
import { World } from "./support/world.ts";

const LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/cloud-controller-manager";
const SHORT_LEASE = [
  "--leader-elect-lease-duration=4s",
  "--leader-elect-renew-deadline=3s",
  "--leader-elect-retry-period=500ms",
] as const;

let controlPlane: ControlPlane;
let world: World;

beforeAll(async () => {
  await buildControlPlane();
  controlPlane = await startControlPlane();
}, 60 * 60_000);
beforeEach(async () => {
  world = await World.start(controlPlane);
  await world.startSidecar();
});
afterEach(() => world[Symbol.asyncDispose]());
afterAll(() => controlPlane.stop());

const holder = async () => at(await world.kube.find(LEASE), "spec", "holderIdentity");

describe("two controllers on a real control plane", () => {
  test("one works, and the other takes over at once when the first is asked to end", async () => {
    const first = world.startController({ args: SHORT_LEASE });
    await first.said(/Became leader/);
    const second = world.startController({ args: SHORT_LEASE });
    await second.said(/Waiting for leadership/);
    await second.said(/provider connected/);
    await world.createMachines([
      { name: "l-1", zone: "north-a" },
      { name: "l-2", zone: "north-a" },
    ]);
    await world.registerNode("l-1");
    await world.initialized("l-1");
    await first.said(/Node initialized/);
    expect(second.output).not.toContain("Node initialized");
    expect(second.output).not.toContain("Became leader");

    expect(await first.stop("SIGTERM")).toEqual({ code: 0, signal: null });
    await second.said(/Became leader/, 2000);
    await world.registerNode("l-2");
    await world.initialized("l-2");
    await second.said(/Node initialized/);
  });

  test("the other takes over after the lease when the first is killed", async () => {
    const first = world.startController({ args: SHORT_LEASE });
    await first.said(/Became leader/);
    const before = await holder();
    const second = world.startController({ args: SHORT_LEASE });
    await second.said(/Waiting for leadership/);
    await first.stop("SIGKILL");
    // Lease duration, one jittered retry, and room for a busy machine.
    await second.said(/Became leader/, 4000 + 2000 + 4000);
    const after = await eventually("the lease to change hands", 5000, async () => {
      const now = await holder();
      return now === before ? undefined : now;
    });
    expect(after).not.toBe(before);
  });

  test("a leader that cannot reach the API server any more ends with code 1", async () => {
    const first = world.startController({ args: SHORT_LEASE });
    await first.said(/Became leader/);
    await controlPlane.stopApiServer("SIGKILL");
    expect(await first.exit(20_000)).toEqual({ code: 1, signal: null });
    expect(first.output).toContain("Leadership lost");
    await controlPlane.startApiServer();
  });
});
