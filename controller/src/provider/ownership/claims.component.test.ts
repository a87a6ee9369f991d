import { BatchGetInstancesResponse } from "@cloudwire/proto/cloudprovider/v1/instance";
import { afterEach, beforeEach, expect, test } from "vitest";
import { node, taint } from "../../../test/support/builders.ts";
import { eventually } from "../../../test/support/poll.ts";
import { ProviderHarness } from "../../../test/support/provider/provider-harness.ts";
import { providerInfo, providerStatus, ScriptedProvider } from "../../../test/support/provider/scripted-provider.ts";
import { NO_TRACING } from "../../telemetry/tracing.ts";
import { systemClock } from "../../util/clock.ts";
import { BatchingInstanceReader } from "../lookup/instance-reader.ts";
import type { Sidecar } from "../sidecar.ts";
import { providerSet } from "./provider-set.ts";

/** Two providers with sockets of their own, and one reader over both. */
interface Side extends AsyncDisposable {
  readonly harness: ProviderHarness;
  readonly provider: ScriptedProvider;
  readonly sidecar: Sidecar;
}

let east: Side;
let west: Side;
let reader: BatchingInstanceReader;

async function start(name: string, ready = true): Promise<Side> {
  const harness = await ProviderHarness.create();
  const provider = await ScriptedProvider.start(harness.socketPath, {
    getProviderInfo: () => providerInfo({ providerIdPrefixes: [`${name}://`] }),
    getProviderStatus: () => providerStatus({ ready }),
  });
  const sidecar = harness.connect({ name });
  await eventually("the provider has reported its status", () => sidecar.status !== undefined);
  const stop = async (): Promise<void> => {
    await harness[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  };
  return { harness, provider, sidecar, [Symbol.asyncDispose]: stop };
}

beforeEach(async () => {
  [east, west] = await Promise.all([start("east"), start("west")]);
  reader = new BatchingInstanceReader({
    providers: providerSet([east.sidecar, west.sidecar]),
    clock: systemClock(),
    signal: east.harness.signal,
    tracing: NO_TRACING,
  });
});

afterEach(async () => {
  for (const side of [east, west]) await side[Symbol.asyncDispose]();
});

/** Answers "there is one" for these names, "there is none" for all others, and nothing for `unsaid`. */
function has({ sidecar, provider }: Side, names: readonly string[], unsaid = ""): void {
  provider.script.batchGetInstances = ({ nodes }) =>
    BatchGetInstancesResponse.fromPartial({
      scopeId: "project-1",
      results: nodes.map(({ name }) => {
        if (name === unsaid) return {};
        return names.includes(name)
          ? { outcome: { $case: "instance", value: { providerId: `${sidecar.name}://${name}`, name } } }
          : { outcome: { $case: "absent", value: { basis: 2, observeTime: new Date(), stronglyConsistent: true } } };
      }),
    });
}

function get(name: string, providerID = "", at?: string) {
  const subject = node(name, {
    spec: { providerID, taints: [taint("node.cloudprovider.kubernetes.io/uninitialized")] },
  });
  return reader.get(subject, { signal: east.harness.signal, maxDataAgeMs: 1000, ...(at === undefined ? {} : { at }) });
}

test("a node without ID is of the one provider that has its machine, and each of both is asked once for many", async () => {
  has(east, ["n1", "n2"]);
  has(west, ["n3"]);
  expect(await Promise.all([get("n1"), get("n2"), get("n3"), get("n4")])).toMatchObject([
    { kind: "present", instance: { providerId: "east://n1" } },
    { kind: "present", instance: { providerId: "east://n2" } },
    { kind: "present", instance: { providerId: "west://n3" } },
    { kind: "noMatch" },
  ]);
  expect(east.provider.callsOf("batchGetInstances")).toHaveLength(1);
  expect(west.provider.callsOf("batchGetInstances")).toHaveLength(1);
});

test("a node without ID whose name two clouds know has no owner", async () => {
  has(east, ["n1"]);
  has(west, ["n1"]);
  expect(await get("n1")).toMatchObject({ kind: "unknown", error: { reason: "AMBIGUOUS_NAME", class: "OPERATOR" } });
});

test("a node without ID waits for the provider that is away, and costs the other no call", async () => {
  has(east, ["n1"]);
  await west.provider[Symbol.asyncDispose]();
  await eventually("west is given up for now", () => west.sidecar.unavailable !== undefined);
  expect(await get("n1")).toMatchObject({
    kind: "unknown",
    error: {
      class: "OUTCOME_UNKNOWN",
      message: expect.stringContaining("west cannot determine whether it owns the instance"),
    },
  });
  expect(east.provider.callsOf("batchGetInstances")).toHaveLength(0);
  expect(await get("n1", "east://n1")).toMatchObject({ kind: "present", instance: { providerId: "east://n1" } });
});

test("the word of a provider whose cloud is not trusted is not taken for no", async () => {
  has(east, ["n1"]);
  await using north = await start("north", false);
  const providers = providerSet([east.sidecar, north.sidecar]);
  reader = new BatchingInstanceReader({
    providers,
    clock: systemClock(),
    signal: east.harness.signal,
    tracing: NO_TRACING,
  });
  expect(await get("n1")).toMatchObject({
    kind: "unknown",
    error: {
      message: expect.stringContaining(
        "north cannot determine whether it owns the instance: the provider reports that it is not ready",
      ),
    },
  });
  expect(north.provider.callsOf("batchGetInstances")).toHaveLength(0);
});

test("a provider that cannot answer for one node holds that node alone", async () => {
  has(east, ["n1", "n2"]);
  has(west, [], "n1");
  expect(await Promise.all([get("n1"), get("n2")])).toMatchObject([
    {
      kind: "unknown",
      error: { message: expect.stringContaining("east has an instance of that name, but west cannot determine") },
    },
    { kind: "present", instance: { providerId: "east://n2" } },
  ]);
});

test("one provider alone can be asked about a name, whichever provider owns the node", async () => {
  has(east, ["n1"]);
  has(west, ["n1"]);
  expect(await get("n1", "", "west")).toMatchObject({ kind: "present", instance: { providerId: "west://n1" } });
  expect(east.provider.callsOf("batchGetInstances")).toHaveLength(0);
});
