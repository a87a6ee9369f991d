import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { CloudClient, loopbackPools, spawnSidecar, startCloud } from "@cloudwire/provider-simulated";
import { expect, onTestFinished, test } from "vitest";
import { readCreatedResources } from "../suite/created-resources-file.ts";

const exec = promisify(execFile);
const main = ["--conditions=development", join(import.meta.dirname, "..", "main.ts")];

test("cleanup removes what a run has left that was killed, and the next run waits for that", async () => {
  const cloud = await startCloud({ ...loopbackPools(process.pid) });
  onTestFinished(() => cloud.close());
  const directory = await mkdtemp(join(tmpdir(), "conformance-cleanup-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const client = new CloudClient({ url: cloud.url, apiKey: "demo-key" });
  const soon = AbortSignal.timeout(100_000);
  const [machine] = await client.createInstances([{ name: "node-1", zone: "north-a" }], soon);
  const config = join(directory, "conformance.yaml");
  await writeFile(config, `instance: {providerId: "sim://north-a/${machine?.id}", nodeName: node-1}\n`);
  const sidecar = await spawnSidecar({ socketPath: join(directory, "provider.sock"), cloudUrl: cloud.url });
  onTestFinished(() => sidecar.stop());
  const balancers = async () => (await client.listLoadBalancers({}, soon)).items;
  const report = join(directory, "report");
  const resources = join(report, "resources.jsonl");
  const target = ["--endpoint", sidecar.endpoint];
  const run = [
    "run",
    "--level",
    "M",
    "--yes",
    "--profile",
    "loadbalancer",
    "--config",
    config,
    "--report",
    report,
    ...target,
  ];

  const killed = spawn(process.execPath, [...main, ...run], { stdio: "ignore" });
  onTestFinished(() => void killed.kill("SIGKILL"));
  await expect.poll(async () => (await balancers()).length, { timeout: 60_000 }).toBeGreaterThan(0);
  killed.kill("SIGKILL");
  expect(readCreatedResources(resources)?.map(({ kind }) => kind)).toContain("loadBalancer");

  await expect(exec(process.execPath, [...main, ...run])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /resources\.jsonl lists resources that an earlier run may have left in the cloud; first: /,
    ),
  });
  const { stdout } = await exec(process.execPath, [...main, "cleanup", resources, ...target]);
  expect(stdout).toMatch(/^nothing is left of the \d+ things in .*resources\.jsonl, which is removed, too\n$/);
  expect(await balancers()).toEqual([]);
  expect(readCreatedResources(resources)).toBeUndefined();
}, 120_000);

test.each([
  [["cleanup"], /clean up after which run\?/],
  [["cleanup", "/nowhere/resources.jsonl"], /there is no \/nowhere\/resources\.jsonl/],
])("says in one line what is wrong with %j", async (args, wanted) => {
  await expect(exec(process.execPath, [...main, ...args])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(wanted),
  });
});
