import { afterEach, beforeEach, expect, test } from "vitest";
import { node, taint } from "../../../test/support/builders.ts";
import { eventually } from "../../../test/support/poll.ts";
import { ProviderHarness } from "../../../test/support/provider/provider-harness.ts";
import {
  contractFailure,
  instancesFor,
  providerInfo,
  ScriptedProvider,
} from "../../../test/support/provider/scripted-provider.ts";
import { NO_TRACING } from "../../telemetry/tracing.ts";
import { systemClock } from "../../util/clock.ts";
import { BatchingInstanceReader } from "./instance-reader.ts";
import type { Sidecar } from "../sidecar.ts";
import { providerSet } from "../ownership/provider-set.ts";

const TAINT = "node.cloudprovider.kubernetes.io/uninitialized";

let harness: ProviderHarness;
let provider: ScriptedProvider;
let sidecar: Sidecar;
let reader: BatchingInstanceReader;

beforeEach(async () => {
  harness = await ProviderHarness.create();
  provider = await ScriptedProvider.start(harness.socketPath);
  sidecar = harness.connect();
  reader = new BatchingInstanceReader({
    providers: providerSet([sidecar]),
    clock: systemClock(),
    signal: harness.signal,
    tracing: NO_TRACING,
  });
});

afterEach(async () => {
  await harness[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

function get(name: string, providerID = "", maxDataAgeMs = 30_000) {
  const subject = node(name, { spec: { providerID, taints: [taint(TAINT)] } });
  return reader.get(subject, { signal: harness.signal, maxDataAgeMs, priority: "high" });
}

/** 50 ms for each call, as a cloud has. */
async function slowly(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 50));
}

test("1,000 tainted nodes asked about at once cost five calls", async () => {
  await harness.ready(sidecar);
  provider.script.batchGetInstances = async (request) => slowly().then(() => instancesFor(request));
  const answers = await Promise.all(Array.from({ length: 1000 }, (_, index) => get(`n${index}`)));
  expect(answers.map((answer) => answer.kind === "present" && answer.instance.name)).toEqual(
    Array.from({ length: 1000 }, (_, index) => `n${index}`),
  );
  expect(provider.callsOf("batchGetInstances")).toHaveLength(5);
});

test("1,000 tainted nodes worked on by 64 workers cost at most 20 calls", async () => {
  await harness.ready(sidecar);
  provider.script.batchGetInstances = async (request) => slowly().then(() => instancesFor(request));
  const names = Array.from({ length: 1000 }, (_, index) => `n${index}`);
  const kinds: string[] = [];
  const work = async (): Promise<void> => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) kinds.push((await get(name)).kind);
  };
  await Promise.all(Array.from({ length: 64 }, work));
  expect(kinds).toEqual(Array.from({ length: 1000 }, () => "present"));
  expect(provider.callsOf("batchGetInstances").length).toBeLessThanOrEqual(20);
});

test("a node of another provider is left alone without a call", async () => {
  await harness.ready(sidecar);
  expect(await get("n1", "other://i-1")).toEqual({
    kind: "notOwned",
    message: "no provider has the prefix of other://i-1",
  });
  expect(provider.callsOf("batchGetInstances")).toHaveLength(0);
});

test("a node without provider ID is left alone when no provider finds machines by name", async () => {
  provider.script.getProviderInfo = () => providerInfo({ capabilities: { instances: { maxBatchSize: 10 } } });
  await harness.ready(sidecar);
  expect(await get("n1")).toMatchObject({ kind: "notOwned" });
});

test("a node is unknown as long as the provider has not answered", async () => {
  provider.script.getProviderInfo = () => {
    throw contractFailure("PROVIDER_STARTING", "loading");
  };
  expect(await get("n1", "acme://i-1")).toMatchObject({ kind: "unknown", error: { code: "UNAVAILABLE" } });
});

test("nodes are unknown, not absent, while the provider is away, and known when it is back", async () => {
  await harness.ready(sidecar);
  await provider[Symbol.asyncDispose]();
  await eventually("the provider is given up for now", () => sidecar.health.reasons[0]?.name === "SocketMissing");
  expect(await get("n1", "acme://i-1")).toMatchObject({ kind: "unknown", error: { code: "UNAVAILABLE" } });
  provider = await ScriptedProvider.start(harness.socketPath);
  await harness.ready(sidecar);
  expect(await get("n1", "acme://i-1")).toMatchObject({ kind: "present", instance: { providerId: "acme://i-1" } });
});
