import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Fixtures, runConformance } from "@cloudwire/conformance";
import { afterAll, beforeAll, expect, test } from "vitest";
import { at } from "../support/kube.ts";
import { Program, type ProgramOptions } from "../support/program.ts";
import type { EmulatedMachine } from "./support/emulated-cloud.ts";
import { type OwnAws, socketOf, startOwnAws } from "./support/own-aws.ts";

const RUN_MS = 900_000;
const CANARY = "canary-secret-word";

const started = new AsyncDisposableStack();
let folder: string;
let aws: OwnAws;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "aws-conformance-"));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  aws = await startOwnAws({ folder, run: (options: ProgramOptions) => started.use(new Program(options)) });
}, RUN_MS);
afterAll(() => started.disposeAsync());

const idOf = ({ zone, id }: EmulatedMachine): string => `aws:///${zone}/${id}`;

/** What the kit does to the cloud is done at the emulator. */
const hooksOf = ({ account, cloud }: OwnAws): NonNullable<Fixtures["hooks"]> => {
  const machines = new Map<string, EmulatedMachine>();
  const machine = ({ CONFORMANCE_NODE_NAME: name = "" }: Readonly<Record<string, string>>) => machines.get(name);
  const hook = (call: (variables: Readonly<Record<string, string>>) => Promise<unknown>) => ({
    kind: "function" as const,
    call: async (variables: Readonly<Record<string, string>>) => JSON.stringify((await call(variables)) ?? {}),
  });
  const onMachine = (method: string) =>
    hook(async (variables) => {
      const known = machine(variables);
      if (known) await account.ec2(method, { InstanceIds: [known.id] });
    });
  return {
    instanceCreate: hook(async ({ CONFORMANCE_NODE_NAME: name = "" }) => {
      const made = await cloud.run("us-east-1b");
      machines.set(name, made);
      return { providerId: idOf(made), nodeName: made.name };
    }),
    instanceStop: onMachine("stop_instances"),
    instanceStart: onMachine("start_instances"),
    instanceTerminate: onMachine("terminate_instances"),
    cloudFault429: hook(() => account.throttle(0.001, 1)),
    cloudFault500: hook(() => account.fail(true)),
    cloudFaultClear: hook(async () => {
      await account.fail(false);
      await account.throttle(0, 0);
    }),
    credRevoke: hook(() => account.deny(true)),
    credRestore: hook(() => account.deny(false)),
    cloudCallCount: hook(async () => ({ calls: await account.allCalls() })),
  };
};

const fixturesOf = async (own: OwnAws): Promise<Fixtures> => {
  const first = await own.cloud.run("us-east-1a");
  const second = await own.cloud.run("us-east-1b");
  const gone = await own.cloud.run("us-east-1a");
  await own.cloud.terminate(gone);
  const volume = await own.account.ec2("create_volume", { AvailabilityZone: "us-east-1a", Size: 1 });
  return {
    instance: {
      providerId: idOf(first),
      nodeName: first.name,
      type: "m5.large",
      zone: first.zone,
      region: "us-east-1",
      addresses: [first.address],
    },
    otherInstance: { providerId: idOf(second), nodeName: second.name },
    terminatedProviderId: idOf(gone),
    absentProviderId: "aws:///us-east-1a/i-0123456789abcdef0",
    malformedIds: ["aws:///us-east-1a/vol-01234567"],
    volume: { handle: String(at(volume, "VolumeId")), zones: ["us-east-1a"], region: "us-east-1" },
    absentVolumeHandle: "vol-0123456789abcdef0",
    malformedVolumeHandle: "i-01234567",
    routeCidrs: ["10.120.1.0/24", "10.120.2.0/24"],
    canarySecret: CANARY,
    hooks: hooksOf(own),
  };
};

test(
  "the conformance kit finds the provider for AWS as it should be, and leaves nothing at AWS",
  async () => {
    const fixtures = await fixturesOf(aws);
    await aws.startSidecar({ AWS_SECRET_ACCESS_KEY: CANARY });
    const left: string[] = ["it was not cleaned up"];
    const report = await runConformance({
      endpoint: socketOf({ folder }),
      fixtures,
      level: "M",
      // Core is the SDK's, which other providers prove.
      profiles: ["instances", "instances-list", "instances-watch", "loadbalancer", "routes", "volumes"],
      onCleanUp: (outcome) => left.splice(0, 1, ...outcome.left),
    });
    const fine = new Set(["pass", "skip", "known-fail"]);
    expect(report.results.filter(({ verdict }) => !fine.has(verdict.kind))).toEqual([]);
    expect(left).toEqual([]);
    expect(await aws.account.leftovers()).toEqual([]);
    expect(await aws.cloud.routes()).toEqual([]);
    const failed = report.profiles.filter(({ verdict }) => verdict !== "conformant" && verdict !== "partial");
    expect(failed).toEqual([]);
  },
  RUN_MS,
);
