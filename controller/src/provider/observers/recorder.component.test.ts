import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EnsureLoadBalancerResponse } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { WatchInstancesResponse } from "@cloudwire/proto/cloudprovider/v1/instance";
import { fieldRules } from "@cloudwire/proto/rules";
import { Ajv } from "ajv";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { recordingSchema } from "../../../scripts/schemas/recording-schema.ts";
import { ClientHarness, ensureInput, refs, SERVICE } from "../../../test/support/provider/client-harness.ts";
import { contractFailure, providerInfo } from "../../../test/support/provider/scripted-provider.ts";
import { RecordingLog, recordingMetrics } from "../../telemetry/recording-log.ts";
import { systemClock } from "../../util/clock.ts";
import { wireRecorder } from "./recorder.ts";
import { RPCS } from "../convert/methods.ts";

const CLOSE_MS = 10_000;
type Line = Readonly<Record<string, unknown>>;

const isLine = new Ajv({ allErrors: true, strict: false }).compile(recordingSchema());

let world: ClientHarness;
let recording: RecordingLog;
let path: string;
beforeEach(async () => {
  world = await ClientHarness.create();
  path = join(world.harness.directory, "provider.rec");
  const { log, metrics } = world.harness;
  recording = new RecordingLog({
    path,
    maxBytes: 1024 * 1024,
    header: { program: "test", providers: [{ name: "acme", address: "unix:///acme.sock" }] },
    metrics: recordingMetrics(metrics),
    log,
    clock: systemClock(),
  });
});
afterEach(() => world[Symbol.asyncDispose]());

const options = () => ({ signal: world.harness.signal });

async function lines(): Promise<readonly Line[]> {
  await recording.close(CLOSE_MS);
  const all = readFileSync(path, "utf8").trimEnd().split("\n");
  return all.map((line): Line => JSON.parse(line));
}

const of = (all: readonly Line[], method: string, kind: string) =>
  all.filter((line) => line["method"] === method && line["kind"] === kind);

describe("the recording of calls to a provider", () => {
  test("has each call with its answer or its error, in lines that the schema takes", async () => {
    let isDown = false;
    await world.start(
      {
        getProviderInfo: () => providerInfo({ capabilities: { loadBalancers: {} } }),
        ensureLoadBalancer: () => {
          if (isDown) throw contractFailure("RATE_LIMITED", "slow down", 1500);
          return EnsureLoadBalancerResponse.fromPartial({
            loadBalancer: { id: "lb-1", service: SERVICE, phase: 2, specFingerprint: "s1-x" },
          });
        },
      },
      { recording },
    );
    const { client } = world.sidecar;
    await client.ensureLoadBalancer(ensureInput(), { ...options(), trigger: "service created" });
    isDown = true;
    await expect(client.ensureLoadBalancer(ensureInput(), options())).rejects.toThrow("slow down");
    const all = await lines();
    expect(all.filter((line) => !isLine(line))).toEqual([]);
    expect(all[0]).toMatchObject({ kind: "header" });
    expect(all[1]).toMatchObject({ kind: "start", call: 1, provider: "acme", method: "GetProviderInfo" });
    const [begin] = of(all, "EnsureLoadBalancer", "start");
    expect(begin).toMatchObject({ timeoutMs: 60_000, request: { service: SERVICE, specFingerprint: "s1-x" } });
    expect(of(all, "EnsureLoadBalancer", "end")).toEqual([
      expect.objectContaining({
        call: begin?.["call"],
        code: "OK",
        response: {
          loadBalancer: {
            id: "lb-1",
            service: SERVICE,
            phase: "LOAD_BALANCER_PHASE_ACTIVE",
            specFingerprint: "s1-x",
          },
        },
      }),
      expect.objectContaining({
        code: "RESOURCE_EXHAUSTED",
        message: "slow down",
        details: [
          { "@type": "google.rpc.ErrorInfo", reason: "RATE_LIMITED", domain: "cloudprovider.v1" },
          { "@type": "google.rpc.RetryInfo", retryDelay: { seconds: "1", nanos: 500_000_000 } },
        ],
      }),
    ]);
  });

  test("has the lines of calls that are under way together in the order in which they began and ended", async () => {
    const started = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    await world.start(
      {
        getProviderInfo: () =>
          providerInfo({
            capabilities: { loadBalancers: {}, instances: { maxBatchSize: 10 } },
            limits: { maxConcurrentCalls: 8 },
          }),
        ensureLoadBalancer: async () => {
          started.resolve();
          await release.promise;
          return EnsureLoadBalancerResponse.fromPartial({ loadBalancer: { id: "lb-1", service: SERVICE } });
        },
      },
      { recording },
    );
    const { client } = world.sidecar;
    const ensured = client.ensureLoadBalancer(ensureInput(), options());
    await started.promise;
    await client.getInstances(refs(1), world.read());
    release.resolve();
    await ensured;
    const own = (await lines()).filter(({ method }) => method !== "GetProviderInfo" && method !== "GetProviderStatus");
    expect(own.flatMap(({ kind, method }) => (method === undefined ? [] : [[kind, method]]))).toEqual([
      ["start", "EnsureLoadBalancer"],
      ["start", "BatchGetInstances"],
      ["end", "BatchGetInstances"],
      ["end", "EnsureLoadBalancer"],
    ]);
  });

  test("says which calls were given up", async () => {
    await world.start(
      {
        getProviderInfo: () => providerInfo({ capabilities: { loadBalancers: {} } }),
        ensureLoadBalancer: () => new Promise<never>(() => undefined),
      },
      { recording },
    );
    const giveUp = new AbortController();
    const call = world.sidecar.client.ensureLoadBalancer(ensureInput(), { signal: giveUp.signal });
    await expect.poll(() => world.provider.calls.map(({ method }) => method)).toContain("ensureLoadBalancer");
    giveUp.abort(new Error("enough"));
    await expect(call).rejects.toThrow("CANCELLED");
    const [end] = of(await lines(), "EnsureLoadBalancer", "end");
    expect(end).toMatchObject({ code: "CANCELLED", cancelled: true });
  });

  test("has the messages of a stream", async () => {
    const resumed = Promise.withResolvers<void>();
    await world.start(
      {
        getProviderInfo: () => providerInfo({ capabilities: { instances: { maxBatchSize: 10, watch: {} } } }),
        watchInstances: async function* () {
          yield WatchInstancesResponse.fromPartial({
            event: { $case: "bookmark", value: { initialEventsEnd: true } },
            resumeToken: "t1",
          });
          await resumed.promise;
          throw contractFailure("PROVIDER_DRAINING", "going");
        },
      },
      { recording },
    );
    const stop = new AbortController();
    const watch = { signal: stop.signal, resumeToken: "", sendInitialEvents: true };
    for await (const { hint } of world.sidecar.client.watchInstances(watch)) {
      expect(hint).toEqual({ kind: "bookmark", initialEventsEnd: true });
      stop.abort(new Error("enough"));
    }
    resumed.resolve();
    const all = await lines();
    expect(of(all, "WatchInstances", "message")).toEqual([
      expect.objectContaining({ response: { bookmark: { initialEventsEnd: true }, resumeToken: "t1" } }),
    ]);
    expect(of(all, "WatchInstances", "end")).toHaveLength(1);
    expect(all.filter((line) => !isLine(line))).toEqual([]);
  });
});

test("a stream that its reader leaves is one that was given up", async () => {
  await world.start(
    {
      getProviderInfo: () => providerInfo({ capabilities: { instances: { maxBatchSize: 10, watch: {} } } }),
      watchInstances: async function* () {
        yield WatchInstancesResponse.fromPartial({ event: { $case: "bookmark", value: {} }, resumeToken: "t1" });
        await new Promise<never>(() => undefined);
      },
    },
    { recording },
  );
  for await (const _ of world.sidecar.client.watchInstances({ ...options(), resumeToken: "", sendInitialEvents: true }))
    break;
  const [end] = of(await lines(), "WatchInstances", "end");
  expect(end).toMatchObject({ code: "CANCELLED", cancelled: true });
});

describe("wireRecorder()", () => {
  const { ensureLoadBalancer: rpc } = RPCS;

  test("hides what is marked in both directions, and says where JSON lacks something of the bytes", () => {
    const entries: object[] = [];
    const sink = { nextCall: () => 1, write: (entry: object) => entries.push(entry), drop: () => undefined };
    const rules = {
      ...fieldRules,
      "cloudprovider.v1.ServiceRef": [{ name: "uid", jsonName: "uid", kind: "scalar", sensitive: true }],
    } as const;
    const wire = wireRecorder({ provider: "acme", sink, rules });
    const decoded = EnsureLoadBalancerResponse.fromPartial({ loadBalancer: { id: "lb-1", service: SERVICE } });
    const message = rpc.request.decode(new Uint8Array());
    const call = wire.begin(rpc, { ...message, service: SERVICE }, { requestId: "r-1", timeoutMs: 1000 });
    // Field 99, which is unknown.
    const unknown = Uint8Array.of(0x98, 0x06, 0x01);
    call.message(decoded, Buffer.concat([EnsureLoadBalancerResponse.encode(decoded).finish(), unknown]));
    call.end({ code: 0, message: "", details: undefined, isGivenUp: false });
    expect(JSON.stringify(entries)).not.toContain("uid-1");
    expect(entries[1]).toMatchObject({ lossy: true, response: { loadBalancer: { service: { uid: "***" } } } });
  });
});
