import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InstanceState } from "@cloudwire/proto/cloudprovider/v1/instance";
import { connectToProvider, type ProviderClient } from "@cloudwire/provider-sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { Program } from "../../support/program.ts";
import { Hypervisor } from "./support/hypervisor.ts";

let directory: string;
let hypervisor: Hypervisor;
let client: ProviderClient;

const startProvider = async (): Promise<Program> => {
  const provider = new Program({
    source: "providers/baremetal/src/main.ts",
    args: [`--config=${join(directory, "config.yaml")}`],
    env: { CLOUD_PROVIDER_ENDPOINT: `unix://${join(directory, "provider.sock")}` },
  });
  await provider.said(/provider ready/, 60_000);
  return provider;
};

let provider: Program;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "libvirt-"));
  hypervisor = await Hypervisor.create();
  const config = {
    site: "test",
    stateDir: join(directory, "state"),
    libvirt: { hosts: [{ name: "hv-1", uri: hypervisor.uri, type: "kvm-1", zone: "rack-1", region: "home" }] },
    nftables: { table: "cloudwire_libvirt" },
    routes: false,
  };
  await writeFile(join(directory, "config.yaml"), JSON.stringify(config));
  provider = await startProvider();
  client = connectToProvider(`unix://${join(directory, "provider.sock")}`);
});
afterAll(async () => {
  client.close();
  await provider[Symbol.asyncDispose]();
  await hypervisor[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

/** What the provider says of a machine: of an instance its state, of an absence its basis, of an error its reason. */
const answerOf = async (uuid: string): Promise<string> => {
  const nodes = [{ name: "web-1", providerId: `baremetal://${uuid}` }];
  const { results } = await client.batchGetInstances({ nodes, maxDataAge: {} });
  const outcome = results[0]?.outcome;
  if (outcome?.$case === "unknown") return outcome.value.reason;
  if (outcome?.$case !== "instance") return outcome?.$case ?? "none";
  return Object.entries(InstanceState).find(([, value]) => value === outcome.value.state)?.[0] ?? "none";
};

const listed = async (): Promise<readonly string[]> =>
  (await client.listInstances({})).instances.map(({ name }) => name);

const isReady = async (): Promise<boolean> => (await client.getProviderStatus()).ready;

describe("machines of libvirt", () => {
  test("are reported as the hypervisor has them: running, paused, off, gone", async () => {
    const uuid = await hypervisor.create("web-1");
    const { results } = await client.batchGetInstances({ nodes: [{ name: "web-1" }], maxDataAge: {} });
    const outcome = results[0]?.outcome;
    expect(outcome).toMatchObject({
      $case: "instance",
      value: {
        providerId: `baremetal://${uuid}`,
        name: "web-1",
        instanceType: "kvm-1",
        zone: "rack-1",
        region: "home",
        addresses: [{ address: expect.stringMatching(/^192\.168\.122\.\d+$/) }, { address: "web-1" }],
      },
    });
    expect(await answerOf(uuid)).toBe("RUNNING");
    await hypervisor.virsh("suspend", "web-1");
    expect(await answerOf(uuid)).toBe("RUNNING");
    await hypervisor.virsh("resume", "web-1");
    await hypervisor.virsh("shutdown", "web-1");
    expect(await answerOf(uuid)).toBe("STOPPED");
    await hypervisor.virsh("start", "web-1");
    expect(await answerOf(uuid)).toBe("RUNNING");
    await hypervisor.virsh("destroy", "web-1");
    expect([await answerOf(uuid), await listed()]).toEqual(["STOPPED", ["web-1"]]);
    await hypervisor.virsh("undefine", "web-1");
    expect([await answerOf(uuid), await listed()]).toEqual(["absent", []]);
  });

  test("are not absent while the hypervisor does not answer, also to a provider that has just begun", async () => {
    const uuid = await hypervisor.create("web-1");
    expect([await answerOf(uuid), await isReady()]).toEqual(["RUNNING", true]);
    await hypervisor.kill();
    const never = "00000000-0000-4000-8000-000000000000";
    expect([await answerOf(uuid), await answerOf(never)]).toEqual(["RUNNING", "INCOMPLETE_ANSWER"]);
    await expect(listed()).rejects.toMatchObject({ reason: "INCOMPLETE_ANSWER" });
    expect(provider.output).toContain("hypervisor hv-1 does not return its domains");

    await provider.stop();
    provider = await startProvider();
    await eventually("the status to report it", 60_000, async () => ((await isReady()) ? undefined : true));
    expect(await answerOf(uuid)).toBe("INCOMPLETE_ANSWER");
    await hypervisor.start();
    await hypervisor.create("web-2");
    await eventually("the status to be good again", 60_000, async () => ((await isReady()) ? true : undefined));
    // This hypervisor answers, and does not have it any more.
    expect([await answerOf(uuid), await listed()]).toEqual(["absent", ["web-2"]]);
  });
});
