import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { status as grpc } from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test } from "vitest";
import { absent } from "../results/results.ts";
import type { InstanceHandlers, NodeRef } from "../definition/instances.ts";
import { ProviderError } from "../results/errors.ts";
import { invoke, invokeOk } from "../../test/support/invoke.ts";
import { basics, context, eventually, serveForTest } from "../../test/support/serve-for-test.ts";

const { methods } = CloudProviderDefinition;

const machine = (ref: NodeRef) => ({ id: ref.id ?? `i-${ref.name}`, name: ref.name });
const withGet = (get: NonNullable<InstanceHandlers["get"]>) => ({ ...basics, instances: { get } });
const nodes = [{ name: "n1" }];

describe("startProvider()", () => {
  test("answers the handshake with what the methods claim", async () => {
    const { client, provider } = await serveForTest(withGet(machine));
    const client1 = { name: "test", version: "1", contractMajor: 1 };
    const info = await invokeOk(client, methods.getProviderInfo, { client: client1 });
    expect(info).toMatchObject({
      name: "acme.example.com",
      contractMajor: 1,
      bootId: provider.bootId,
      providerIdPrefixes: ["acme://"],
      scopeId: "acct-1",
      capabilities: { loadBalancers: undefined, routes: undefined, volumes: undefined },
      services: [
        "cloudprovider.v1.CloudProvider",
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
      ],
    });
    expect(info.capabilities?.instances).toMatchObject({ maxBatchSize: 200, list: undefined, watch: undefined });
  });

  test.each([
    ["a rejection", async () => Promise.reject(new Error("secret token abc"))],
    [
      "a throw",
      () => {
        throw new Error("secret token abc");
      },
    ],
  ])("masks %s of a whole call, logs it in full and lives on", async (_title, fail) => {
    const { client, logged } = await serveForTest({ ...basics, instances: { getMany: fail } });
    const outcome = await invoke(client, methods.batchGetInstances, { context, nodes });
    expect(outcome).toMatchObject({
      kind: "error",
      code: grpc.UNKNOWN,
      reason: "UNMAPPED_ERROR",
      details: ["ErrorInfo"],
    });
    expect(JSON.stringify(outcome)).not.toContain("secret");
    expect(logged.join("")).toContain("secret token abc");
    expect(await invoke(client, methods.getProviderStatus, {})).toMatchObject({ kind: "ok" });
  });

  test("answers one Node's failure as that Node's", async () => {
    const { client } = await serveForTest(
      withGet((ref) => {
        if (ref.name === "bad") throw new ProviderError("CLOUD_UNAVAILABLE", "zone b is down");
        return ref.name === "gone" ? absent("LOOKUP_MISS") : machine(ref);
      }),
    );
    const { results } = await invokeOk(client, methods.batchGetInstances, {
      context,
      nodes: [{ name: "n1" }, { name: "bad" }, { name: "gone" }, { name: "x", providerId: "gce://1" }],
    });
    expect(results.map(({ outcome }) => outcome?.$case)).toEqual(["instance", "unknown", "absent", "notOwned"]);
  });

  test("echoes the request ID in the trailers of success and failure, and generates a missing one", async () => {
    const { client } = await serveForTest(withGet(machine));
    const metadata = { "x-request-id": "abc-1", traceparent: "not a trace context" };
    const ok = await invoke(client, methods.batchGetInstances, { context, nodes }, { metadata });
    const failed = await invoke(client, methods.batchGetInstances, { context, nodes: [] }, { metadata });
    const anonymous = await invoke(client, methods.batchGetInstances, { context, nodes });
    expect([ok, failed].map(({ trailers }) => trailers.get("x-request-id"))).toEqual([["abc-1"], ["abc-1"]]);
    expect(String(anonymous.trailers.get("x-request-id")[0])).toMatch(/^[0-9a-f-]{36}$/);
    expect(ok.kind).toBe("ok");
  });

  test("keeps oversize errors within the trailer budget, code and reason intact", async () => {
    const { client } = await serveForTest({
      ...basics,
      instances: {
        getMany: () => {
          throw new ProviderError("CLOUD_PERMISSION_DENIED", "ü".repeat(100_000), {
            metadata: Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key${index}`, "v".repeat(2_000)])),
            fieldViolations: Array.from({ length: 500 }, (_, index) => ({
              field: `a[${index}]`,
              description: "d".repeat(500),
            })),
            help: { description: "h".repeat(9_000), url: "https://example.com" },
          });
        },
      },
    });
    const outcome = await invoke(client, methods.batchGetInstances, { context, nodes }, { deadlineMs: 5_000 });
    expect(outcome).toMatchObject({ code: grpc.PERMISSION_DENIED, reason: "CLOUD_PERMISSION_DENIED" });
    expect(outcome.kind === "error" && outcome.detailsBytes).toBeLessThanOrEqual(4_096);
    expect(outcome.kind === "error" && Buffer.byteLength(outcome.message)).toBeLessThanOrEqual(1_024);
  });

  test("serves 1,000 calls one after the other on one connection", async () => {
    const { client } = await serveForTest(withGet(machine));
    let answered = 0;
    for (let index = 0; index < 1_000; index++) {
      const outcome = await invoke(client, methods.batchGetInstances, { context, nodes });
      if (outcome.kind === "ok") answered += 1;
    }
    expect(answered).toBe(1_000);
  });

  // 49.7103 days are 2^32 ms and two seconds.
  test.each([26, 30, 49, 49.7103, 60, 365, 3_650])("serves a slow call with a deadline in %d days", async (days) => {
    const warnings: string[] = [];
    const warned = ({ message }: Error) => void warnings.push(message);
    process.on("warning", warned);
    onTestFinished(() => void process.off("warning", warned));
    const { client } = await serveForTest(
      withGet(async (ref, { signal, remainingMs }) => {
        // A deadline that was misread ends the call in its first millisecond.
        await new Promise((resolve) => setTimeout(resolve, 30));
        signal.throwIfAborted();
        return { ...machine(ref), stateReason: `${Math.ceil(remainingMs() / 60_000)} min` };
      }),
    );
    const deadlineMs = days * 86_400_000;
    const { results } = await invokeOk(client, methods.batchGetInstances, { context, nodes }, { deadlineMs });
    expect(results).toMatchObject([{ outcome: { $case: "instance", value: { stateReason: "60 min" } } }]);
    expect(warnings).toEqual([]);
  });

  test.each([
    [200, 15],
    [1_500, 3],
  ])("does not end the connection when %i calls are cancelled at once, %i times", async (calls, rounds) => {
    const release = Promise.withResolvers<void>();
    const { client } = await serveForTest({
      ...withGet(async (ref, { signal }) => {
        if (ref.name === "quick") return machine(ref);
        await Promise.race([release.promise, new Promise((resolve) => signal.addEventListener("abort", resolve))]);
        return machine(ref);
      }),
      limits: { maxConcurrentCalls: 1_000 },
    });
    const steady = invoke(client, methods.batchGetInstances, { context, nodes: [{ name: "steady" }] });
    const slow = { context, nodes: [{ name: "slow" }] };
    for (let round = 0; round < rounds; round++)
      await Promise.all(
        Array.from({ length: calls }, () => invoke(client, methods.batchGetInstances, slow, { deadlineMs: 20 })),
      );
    release.resolve();
    expect(await steady).toMatchObject({ kind: "ok" });
    expect(await invoke(client, methods.batchGetInstances, { context, nodes: [{ name: "quick" }] })).toMatchObject({
      kind: "ok",
    });
  });

  test("refuses calls beyond the limit with a wait, and still answers status", async () => {
    const release = Promise.withResolvers<void>();
    let running = 0;
    const { client } = await serveForTest({
      ...basics,
      instances: {
        getMany: async (refs: readonly NodeRef[]) => {
          running += 1;
          await release.promise;
          return refs.map(machine);
        },
      },
      limits: { maxConcurrentCalls: 2 },
    });
    const first = [1, 2].map(() => invoke(client, methods.batchGetInstances, { context, nodes }));
    await eventually(() => running === 2);
    const third = await invoke(client, methods.batchGetInstances, { context, nodes });
    expect(third).toMatchObject({ code: grpc.RESOURCE_EXHAUSTED, reason: "TOO_MANY_CALLS", retryAfterMs: 200 });
    expect((await invoke(client, methods.getProviderStatus, {})).kind).toBe("ok");
    release.resolve();
    expect((await Promise.all(first)).map(({ kind }) => kind)).toEqual(["ok", "ok"]);
  });

  test("aborts the handler's signal when the caller gives up", async () => {
    const aborted = Promise.withResolvers<string>();
    const { client } = await serveForTest(
      withGet(async (ref, { signal }) => {
        signal.addEventListener("abort", () => aborted.resolve("aborted"));
        await aborted.promise;
        return machine(ref);
      }),
    );
    const caller = new AbortController();
    const outcome = invoke(client, methods.batchGetInstances, { context, nodes }, { signal: caller.signal });
    setTimeout(() => caller.abort(), 50);
    expect(await aborted.promise).toBe("aborted");
    expect(await outcome).toMatchObject({ code: grpc.CANCELLED });
  });

  test("refuses an RPC that is not claimed, whatever its request says", async () => {
    const { client } = await serveForTest(withGet(machine));
    const unclaimed = [
      await invoke(client, methods.ensureLoadBalancer, {}),
      await invoke(client, methods.listRoutes, {}),
      await invoke(client, methods.batchGetVolumes, {}),
      await invoke(client, methods.listInstances, {}),
    ];
    expect(unclaimed.map((outcome) => outcome.kind === "error" && [outcome.code, outcome.reason])).toEqual(
      unclaimed.map(() => [grpc.UNIMPLEMENTED, "CAPABILITY_ABSENT"]),
    );
  });

  test("refuses a request that is no protobuf message as a field that is invalid", async () => {
    const { client } = await serveForTest(withGet(machine));
    const nonsense = {
      ...methods.batchGetInstances,
      requestType: { fromPartial: (value: Buffer) => value, encode: (value: Buffer) => ({ finish: () => value }) },
    };
    const outcome = await invoke(client, nonsense, Buffer.from([0x0a, 0xff, 0xff]));
    expect(outcome).toMatchObject({ code: grpc.INVALID_ARGUMENT, reason: "FIELD_INVALID" });
  });

  test("rejects another scope, also for reads, and reports both", async () => {
    const { client } = await serveForTest(withGet(machine));
    const outcome = await invoke(client, methods.batchGetInstances, {
      context: { ...context, scopeId: "acct-2" },
      nodes,
    });
    expect(outcome).toMatchObject({
      code: grpc.FAILED_PRECONDITION,
      reason: "SCOPE_MISMATCH",
      metadata: { expected: "acct-2", actual: "acct-1" },
    });
  });

  test("answers handshakes and status before the cloud has reported the scope, and rejects other calls", async () => {
    const scope = Promise.withResolvers<string>();
    const { client } = await serveForTest({ ...withGet(machine), scope: () => scope.promise });
    const caller = { name: "test", version: "1", contractMajor: 1 };
    expect(await invokeOk(client, methods.getProviderInfo, { client: caller })).toMatchObject({ scopeId: "" });
    expect(await invokeOk(client, methods.getProviderStatus, {})).toMatchObject({ ready: false, scopeId: "" });
    const early = await invoke(client, methods.batchGetInstances, { context, nodes });
    expect(early).toMatchObject({ code: grpc.UNAVAILABLE, reason: "PROVIDER_STARTING" });
    scope.resolve("acct-1");
    await eventually(async () => (await invokeOk(client, methods.getProviderStatus, {})).ready);
    expect(await invokeOk(client, methods.getProviderInfo, { client: caller })).toMatchObject({ scopeId: "acct-1" });
    expect((await invoke(client, methods.batchGetInstances, { context, nodes })).kind).toBe("ok");
  });
});
