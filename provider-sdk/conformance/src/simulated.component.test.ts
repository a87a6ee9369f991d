import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AdminClient, CloudClient, loopbackPools, spawnSidecar, startCloud } from "@cloudwire/provider-simulated";
import { expect, onTestFinished, test } from "vitest";
import { runConformance } from "./run-conformance.ts";

test("runConformance() finds the simulated provider conformant, up to level R without a change at its cloud, and leaves nothing behind at level M", async () => {
  const cloud = await startCloud({ ...loopbackPools(process.pid) });
  onTestFinished(() => cloud.close());
  const folder = await mkdtemp(join(tmpdir(), "conformance-simulated-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const client = new CloudClient({ url: cloud.url, apiKey: "demo-key" });
  const [machine] = await client.createInstances([{ name: "node-1", zone: "north-a" }], AbortSignal.timeout(10_000));
  const before = await new AdminClient({ url: cloud.url }).calls();
  const sidecar = await spawnSidecar({ socketPath: join(folder, "provider.sock"), cloudUrl: cloud.url });
  onTestFinished(() => sidecar.stop());
  const fixtures = {
    instance: { providerId: `sim://north-a/${machine?.id}`, nodeName: "node-1", zone: "north-a", region: "north" },
    absentProviderId: "sim://north-a/i-000000000000",
    malformedIds: ["sim://nowhere"],
    canarySecret: "demo-key",
  };
  const report = await runConformance({ endpoint: sidecar.endpoint, fixtures });
  const changeNothing = report.results.filter(({ level }) => level === "S" || level === "R");
  expect(changeNothing.filter(({ verdict }) => verdict.kind !== "pass")).toEqual([]);
  // Deletions of what is not there are all that may reach the cloud; here none does.
  const after = await new AdminClient({ url: cloud.url }).calls();
  expect(after.mutating).toBe(before.mutating);
  expect(report.profiles.map(({ name, verdict }) => `${name} ${verdict}`)).toEqual([
    "core conformant",
    "resilience conformant",
    "instances conformant",
    "volumes conformant",
    "routes conformant",
    "instances-list conformant",
    "loadbalancer conformant",
  ]);
  // What the checks of level M make, they remove.
  const left: string[] = ["it was not cleaned up"];
  const made = await runConformance({
    endpoint: sidecar.endpoint,
    fixtures,
    level: "M",
    run: ["lb.**", "nset.**", "route.**", "conc.**"],
    onCleanUp: (outcome) => left.splice(0, 1, ...outcome.left),
  });
  const changes = made.results.filter(({ level }) => level === "M");
  expect(changes.filter(({ verdict }) => verdict.kind !== "pass")).toEqual([]);
  expect(left).toEqual([]);
  const { items } = await client.listLoadBalancers({}, AbortSignal.timeout(10_000));
  expect(items).toEqual([]);
});
