import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CloudClient, loopbackPools, spawnSidecar, startCloud } from "@cloudwire/provider-simulated";
import { expect, onTestFinished, test, vi } from "vitest";
import { allChecks } from "../checks/registry.ts";
import { readConfig } from "../cli/config.ts";
import { runConformance } from "./run-conformance.ts";

/** Where the example says that the provider finds its key, and the cloud is. */
const surroundings = async () => {
  const { loadBalancerPool } = loopbackPools(process.pid);
  const cloud = await startCloud({ loadBalancerPool });
  onTestFinished(() => cloud.close());
  const directory = await mkdtemp(join(tmpdir(), "conformance-scale-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const keyFile = join(directory, "key");
  await writeFile(keyFile, "demo-key");
  vi.stubEnv("SIMCLOUD_URL", cloud.url);
  vi.stubEnv("SIMCLOUD_API_KEY_FILE", keyFile);
  onTestFinished(() => void vi.unstubAllEnvs());
  return { cloud, directory };
};

test("runConformance() finds the simulated provider fast at scale, as its example configuration says", async () => {
  const { cloud, directory } = await surroundings();
  const fixtures = await readConfig(join(import.meta.dirname, "../../../../providers/simulated/conformance.yaml"));
  const client = new CloudClient({ url: cloud.url, apiKey: "demo-key" });
  const zone = "north-a";
  const signal = AbortSignal.timeout(100_000);
  const [machine] = await client.createInstances([{ name: "node-1", zone }], signal);
  expect(fixtures.instance?.providerId).toBe(`sim://${zone}/${machine?.id}`);
  const more = Array.from({ length: fixtures.scale?.instances ?? 0 }, (_, index) => ({ name: `more-${index}`, zone }));
  await client.createInstances(more, signal);
  // The key's file comes by the environment.
  const socketPath = join(directory, "provider.sock");
  const sidecar = await spawnSidecar({ socketPath, cloudUrl: cloud.url, apiKey: "" });
  onTestFinished(() => sidecar.stop());
  const left: string[] = ["it was not cleaned up"];
  const { results } = await runConformance({
    endpoint: sidecar.endpoint,
    fixtures,
    level: "X",
    profiles: ["scale-15k"],
    ...(sidecar.process.pid !== undefined && { providerPid: sidecar.process.pid }),
    onCleanUp: (outcome) => left.splice(0, 1, ...outcome.left),
  });
  expect(left).toEqual([]);
  expect(results.filter(({ result }) => result.kind !== "pass")).toEqual([]);
  const wanted = allChecks.filter(({ profile }) => profile === "scale-15k").map(({ id }) => id);
  expect(results.map(({ id }) => id)).toEqual(expect.arrayContaining(wanted));
}, 240_000);
