import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AdminClient, CloudClient, loopbackPools, spawnSidecar, startCloud } from "@cloudwire/provider-simulated";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Fixtures } from "./fixtures.ts";
import { runConformance } from "./run-conformance.ts";

/** Makes what the checks want to find: machines in each state, and a volume. */
const populate = async (client: CloudClient): Promise<Fixtures> => {
  const signal = AbortSignal.timeout(60_000);
  const names = ["node-1", "node-2", "stopped", "terminated"];
  const machines = await client.createInstances(
    names.map((name) => ({ name, zone: "north-a" })),
    signal,
  );
  const [first = "", second = "", stopped = "", terminated = ""] = machines.map(({ id }) => id);
  const inState = (ids: readonly string[], state: string) =>
    vi.waitFor(
      async () => {
        const { items } = await client.lookupInstances({ ids: [...ids], names: [], consistent: true }, signal);
        expect(items.map((machine) => machine.state)).toEqual(ids.map(() => state));
      },
      { timeout: 30_000, interval: 100 },
    );
  await inState([first, second, stopped, terminated], "running");
  await client.stopInstance(stopped, signal);
  await client.terminateInstances([terminated], signal);
  await inState([stopped], "stopped");
  await inState([terminated], "terminated");
  const volume = await client.createVolume({ name: "volume-1", zone: "north-a", sizeGiB: 1 }, signal);
  const providerId = (id: string): string => `sim://north-a/${id}`;
  return {
    instance: { providerId: providerId(first), nodeName: "node-1", zone: "north-a", region: "north" },
    otherInstance: { providerId: providerId(second), nodeName: "node-2" },
    stoppedProviderId: providerId(stopped),
    terminatedProviderId: providerId(terminated),
    absentProviderId: providerId("i-000000000000"),
    volume: { handle: volume.id, zones: ["north-a"], region: "north" },
    absentVolumeHandle: "vol-000000000000",
    malformedVolumeHandle: "disk-1",
    malformedIds: ["sim://nowhere"],
    canarySecret: "demo-key",
  };
};

test("runConformance() finds the simulated provider conformant, up to level R, without a change in its cloud", async () => {
  const cloud = await startCloud({ ...loopbackPools(process.pid) });
  onTestFinished(() => cloud.close());
  const directory = await mkdtemp(join(tmpdir(), "conformance-simulated-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const client = new CloudClient({ url: cloud.url, apiKey: "demo-key" });
  const fixtures = await populate(client);
  const before = await new AdminClient({ url: cloud.url }).calls();
  const sidecar = await spawnSidecar({ socketPath: join(directory, "provider.sock"), cloudUrl: cloud.url });
  onTestFinished(() => sidecar.stop());
  const report = await runConformance({ endpoint: sidecar.endpoint, fixtures });
  const changeNothing = report.results.filter(({ level }) => level === "S" || level === "R");
  // Left out is what requires TCP, and what needs hooks.
  const beyond: readonly string[] = ["transport", "hook", "mode"];
  const leftOut = changeNothing.filter(({ result }) => result.kind === "skip" && beyond.includes(result.reason));
  expect(changeNothing.filter((result) => result.result.kind !== "pass" && !leftOut.includes(result))).toEqual([]);
  // Deletions of what is not there are all that may reach the cloud; here none does.
  const after = await new AdminClient({ url: cloud.url }).calls();
  expect(after.mutating).toBe(before.mutating);
  const outcomes = new Map(report.profiles.map(({ name, result }) => [name, result]));
  for (const name of ["core", "instances", "instances-list", "volumes", "loadbalancer", "lb-watch", "routes"] as const)
    expect([name, outcomes.get(name)]).toEqual([name, "conformant"]);
}, 180_000);
