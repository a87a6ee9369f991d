import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Fixtures, runConformance } from "@cloudwire/conformance";
import { type Cloud, CloudClient, loopbackPools, startCloud } from "@cloudwire/provider-simulated";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Program } from "../support/program.ts";

const API_KEY = "demo-key";
const RUN_MS = 300_000;

/** A provider that the kit tests. */
interface Subject {
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly [string, ...string[]];
  readonly fixtures: Fixtures;
  /** Checks that have to fail, for what upstream's interface cannot do. */
  readonly knownFailing?: readonly string[];
}

let folder: string;
let cloud: Cloud;
let simulated: Fixtures;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "conformance-languages-"));
  cloud = await startCloud({ ...loopbackPools(process.pid) });
  const client = new CloudClient({ url: cloud.url, apiKey: API_KEY });
  const [machine] = await client.createInstances([{ name: "node-1", zone: "north-a" }], AbortSignal.timeout(10_000));
  simulated = {
    instance: { providerId: `sim://north-a/${machine?.id}`, nodeName: "node-1", zone: "north-a", region: "north" },
    absentProviderId: "sim://north-a/i-000000000000",
    malformedIds: ["sim://nowhere"],
    canarySecret: API_KEY,
  };
});
afterAll(async () => {
  await cloud.close();
  await rm(folder, { recursive: true, force: true });
});

const inTree = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

const overSimulatedCloud = (command: Subject["command"]): Subject => ({
  env: { SIMCLOUD_URL: cloud.url, SIMCLOUD_API_KEY: API_KEY },
  command,
  fixtures: simulated,
});

const bridgedFake = async (): Promise<Subject> => {
  const machine = {
    name: "node-1",
    providerID: "fake://node-1",
    type: "small",
    zone: "zone-1",
    region: "region-1",
    addresses: [{ type: "InternalIP", address: "192.0.2.1" }],
  };
  const config = join(folder, "fake.json");
  await writeFile(config, JSON.stringify({ machines: [machine] }));
  return {
    env: {},
    command: [inTree("test/bridged/fake/bin/provider-fake"), `--cloud-config=${config}`],
    fixtures: {
      instance: {
        providerId: "fake://node-1",
        nodeName: "node-1",
        type: "small",
        zone: "zone-1",
        region: "region-1",
        addresses: ["192.0.2.1"],
      },
      absentProviderId: "fake://node-0",
      malformedIds: [],
    },
    // Upstream's calls do not tell the cluster's id: its fake names load balancers and lists routes without. And it looks up no targets.
    knownFailing: ["lb.cluster.isolated", "lb.nodes.unknown-node", "route.unknown-target", "route.managed-only"],
  };
};

/** Starts the provider and runs every check that it can; answers the verdicts, and what did not pass. */
const judged = async (name: string, { env, command, fixtures, knownFailing = [] }: Subject) => {
  const endpoint = `unix://${join(folder, `${name}.sock`)}`;
  const [program, ...args] = command;
  await using provider = new Program({ command: program, args, env: { ...env, CLOUD_PROVIDER_ENDPOINT: endpoint } });
  // Checks that start it once more give it the same environment.
  const again = ["/usr/bin/env", ...Object.entries(env).map(([key, value]) => `${key}=${value}`), ...command];
  const left: string[] = ["it was not cleaned up"];
  const report = await runConformance({
    endpoint,
    fixtures,
    level: "D",
    providerCommand: again,
    knownFailing,
    onCleanUp: (outcome) => left.splice(0, 1, ...outcome.left),
  });
  await provider.stop();
  const fine = new Set(["pass", "skip", "known-fail"]);
  return {
    left,
    failed: report.results.filter(({ verdict }) => !fine.has(verdict.kind)),
    verdicts: Object.fromEntries(report.profiles.map((profile) => [profile.name, profile.verdict])),
  };
};

/** All that the three claim. Without a planted secret, or an id that cannot be one, some checks are left out. */
const claimed = {
  core: "conformant",
  instances: "conformant",
  loadbalancer: "conformant",
  routes: "conformant",
};

describe("the conformance kit", () => {
  test.each([
    [
      "the simulated provider in Go",
      "go",
      () => overSimulatedCloud([inTree("providers/simulated-go/bin/provider-simulated-go")]),
      { ...claimed, "instances-list": "conformant", resilience: "conformant" },
    ],
    [
      "the simulated provider in Python",
      "python",
      () =>
        overSimulatedCloud([
          inTree("provider-sdk/python/.venv/bin/python"),
          inTree("providers/simulated-python/main.py"),
        ]),
      { ...claimed, "instances-list": "conformant", resilience: "conformant" },
    ],
    ["upstream's fake cloud, bridged", "fake", bridgedFake, { ...claimed, loadbalancer: "partial", routes: "partial" }],
  ])(
    "finds %s as it should be, and leaves nothing in its cloud",
    async (_title, name, subject, verdicts) => {
      const outcome = await judged(name, await subject());
      expect(outcome.failed).toEqual([]);
      expect(outcome.left).toEqual([]);
      expect(outcome.verdicts).toMatchObject(verdicts);
    },
    RUN_MS,
  );
});
