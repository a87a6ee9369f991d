import { WatchInstancesResponse } from "@cloudwire/proto/cloudprovider/v1/instance";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/poll.ts";
import { ProviderHarness } from "../../../test/support/provider/provider-harness.ts";
import { contractFailure, ScriptedProvider } from "../../../test/support/provider/scripted-provider.ts";
import type { InstanceHint, WatchEvent } from "../model/client.ts";

let harness: ProviderHarness;
let provider: ScriptedProvider;

beforeEach(async () => {
  harness = await ProviderHarness.create();
});

afterEach(async () => {
  await harness[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const upsert = (name: string, resumeToken: string): WatchInstancesResponse =>
  WatchInstancesResponse.fromPartial({
    event: { $case: "upsert", value: { providerId: `acme://${name}`, name } },
    resumeToken,
  });

test("watchInstances() goes on by token over a break and a restart of the provider", async () => {
  async function* first() {
    yield upsert("a", "t1");
    yield WatchInstancesResponse.fromPartial({
      event: { $case: "bookmark", value: { initialEventsEnd: true } },
      resumeToken: "t2",
    });
    throw contractFailure("PROVIDER_DRAINING", "restarting");
  }
  async function* second() {
    yield WatchInstancesResponse.fromPartial({
      event: { $case: "gone", value: { providerId: "acme://a", absence: { basis: 1, observeTime: new Date() } } },
      resumeToken: "t3",
    });
    await new Promise(() => undefined);
  }
  provider = await ScriptedProvider.start(harness.socketPath, {
    watchInstances: ({ resumeToken }) => (resumeToken === "" ? first() : second()),
  });
  const sidecar = harness.connect();
  await harness.ready(sidecar);
  const events: WatchEvent<InstanceHint>[] = [];
  const stop = new AbortController();
  const watching = (async () => {
    const options = { signal: stop.signal, resumeToken: "", sendInitialEvents: true };
    for await (const event of sidecar.client.watchInstances(options)) events.push(event);
  })();
  await eventually("the second stream was read", () => events.length === 3);
  expect(events).toMatchObject([
    { hint: { kind: "upsert", instance: { providerId: "acme://a" } }, resumeToken: "t1" },
    { hint: { kind: "bookmark", initialEventsEnd: true }, resumeToken: "t2" },
    { hint: { kind: "gone", providerId: "acme://a" }, resumeToken: "t3" },
  ]);
  expect(provider.callsOf("watchInstances").map(({ request }) => request)).toMatchObject([
    { resumeToken: "", sendInitialEvents: true, context: { scopeId: "project-1" } },
    { resumeToken: "t2", sendInitialEvents: false },
  ]);
  stop.abort(new Error("enough"));
  await watching;
});

test("watchInstances() ends with the error of a provider that does not support it", async () => {
  provider = await ScriptedProvider.start(harness.socketPath, {
    watchInstances: () => {
      throw contractFailure("CAPABILITY_ABSENT", "no watch");
    },
  });
  const sidecar = harness.connect();
  await harness.ready(sidecar);
  const options = { signal: harness.signal, resumeToken: "", sendInitialEvents: false };
  const read = async (): Promise<void> => {
    for await (const _ of sidecar.client.watchInstances(options)) continue;
  };
  await expect(read()).rejects.toMatchObject({ reason: "CAPABILITY_ABSENT", class: "FINAL" });
});
