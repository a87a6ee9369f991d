import type { BatchGetInstancesRequest } from "@cloudwire/proto/cloudprovider/v1/instance";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { absentAll, ClientHarness, refs, SERVICE } from "../../test/support/provider/client-harness.ts";
import type { NodeRef } from "./model/instance.ts";
import { MemoryTraces } from "../../test/support/memory-traces.ts";
import { eventually } from "../../test/support/poll.ts";
import { contractFailure, instancesFor, StatusFailure } from "../../test/support/provider/scripted-provider.ts";

let world: ClientHarness;
beforeEach(async () => {
  world = await ClientHarness.create();
});
afterEach(() => world[Symbol.asyncDispose]());

describe("getInstances()", () => {
  test("splits 1,000 nodes into calls of the declared size and answers in order", async () => {
    await world.start();
    const answers = await world.sidecar.client.getInstances(refs(1000), world.read());
    expect(answers.map((answer) => answer.kind === "present" && answer.instance.providerId)).toEqual(
      refs(1000).map(({ providerId }) => providerId),
    );
    const calls = world.provider.callsOf("batchGetInstances");
    expect(calls).toHaveLength(5);
    expect(calls[0]?.request).toMatchObject({
      context: { cluster: { id: "cluster-1", name: "test" }, scopeId: "project-1" },
      maxDataAge: { seconds: 30n, nanos: 0 },
    });
  });

  test("carries ids and the contract's deadline", async () => {
    await world.start();
    await world.sidecar.client.getInstances(refs(1), world.read());
    const [call] = world.provider.callsOf("batchGetInstances");
    expect(String(call?.metadata.get("traceparent")[0])).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(call?.metadata.get("x-controller-version")).toEqual(["0.0.0-test"]);
    expect(String(call?.metadata.get("x-request-id")[0])).toMatch(/^[0-9a-f-]{36}$/);
    expect(call?.timeoutMs).toBeGreaterThan(29_000);
    expect(call?.timeoutMs).toBeLessThanOrEqual(30_000);
  });

  test("is a span below the work that it is for, and hands that on", async () => {
    const traces = new MemoryTraces();
    const { tracing } = traces;
    await world.start({}, { tracing });
    const work = await tracing.root(
      () => ({ name: "work", kind: "internal", attributes: {} }),
      async (span) => {
        await world.sidecar.client.getInstances(refs(1), world.read());
        return span.traceparent;
      },
    );
    const [call] = world.provider.callsOf("batchGetInstances");
    const [sent] = call?.metadata.get("traceparent") ?? [];
    expect(sent).not.toBe(work);
    expect(String(sent).slice(0, 35)).toBe(work?.slice(0, 35));
    // The handshake and the looks at the provider's health are none.
    expect(traces.spans.map(({ name, parent }) => [name, parent])).toEqual([
      ["cloudprovider.v1.CloudProvider/BatchGetInstances", "work"],
      ["work", undefined],
    ]);
  });

  test.each([
    ["too few results", (request: BatchGetInstancesRequest) => ({ ...instancesFor(request), results: [] })],
    [
      "a result too many",
      (request: BatchGetInstancesRequest) => {
        const answer = instancesFor(request);
        return { ...answer, results: [...answer.results, ...answer.results] };
      },
    ],
    [
      "results in the wrong order",
      (request: BatchGetInstancesRequest) => {
        const answer = instancesFor(request);
        return { ...answer, results: answer.results.toReversed() };
      },
    ],
    [
      "absences for fewer nodes than asked",
      (request: BatchGetInstancesRequest) => ({ ...absentAll(request), results: absentAll(request).results.slice(1) }),
    ],
  ])("believes nothing of an answer with %s", async (_, answer) => {
    await world.start({ batchGetInstances: answer });
    const answers = await world.sidecar.client.getInstances(refs(3), world.read());
    expect(answers).toHaveLength(3);
    expect(answers).toEqual(
      Array.from({ length: 3 }, () =>
        expect.objectContaining({ kind: "unknown", error: expect.objectContaining({ reason: "RESPONSE_INVALID" }) }),
      ),
    );
  });

  test("believes nothing that was read in another scope than the handshake's", async () => {
    await world.start({ batchGetInstances: (request) => ({ ...absentAll(request), scopeId: "project-2" }) });
    const answers = await world.sidecar.client.getInstances(refs(1), world.read());
    expect(answers).toMatchObject([{ kind: "unknown", error: { reason: "SCOPE_MISMATCH", class: "OPERATOR" } }]);
  });

  test("answers unknown for each node when the call fails", async () => {
    await world.start({
      batchGetInstances: () => {
        throw contractFailure("CLOUD_PERMISSION_DENIED", "may not list machines");
      },
    });
    const answers = await world.sidecar.client.getInstances(refs(2), world.read());
    expect(answers).toMatchObject([
      { kind: "unknown", error: { code: "PERMISSION_DENIED", class: "OPERATOR" } },
      { kind: "unknown", error: { code: "PERMISSION_DENIED", class: "OPERATOR" } },
    ]);
    expect(world.provider.callsOf("batchGetInstances")).toHaveLength(1);
  });

  test("keeps a node back that is over the contract's limits, and asks for the others", async () => {
    await world.start();
    const [good, other] = refs(2);
    const long = { ...other, name: "n1", providerId: `acme://${"x".repeat(1024)}` };
    const empty = { ...other, name: "n2", addresses: [{ type: "InternalIP", address: "" }] };
    const answers = await world.sidecar.client.getInstances(
      [long, empty, good].flatMap((ref) => withDefaults(ref)),
      world.read(),
    );
    expect(answers).toMatchObject([
      { kind: "unknown", error: { reason: "FIELD_TOO_LARGE", message: expect.stringContaining("provider_id") } },
      { kind: "unknown", error: { reason: "FIELD_MISSING", message: expect.stringContaining("addresses[0].address") } },
      { kind: "present", instance: { providerId: "acme://i-0" } },
    ]);
  });

  test("halves a batch that is too large for a proxy", async () => {
    await world.start({
      batchGetInstances: (request) => {
        if (request.nodes.length > 2) throw new StatusFailure(8, "Received message larger than max");
        return instancesFor(request);
      },
    });
    const answers = await world.sidecar.client.getInstances(refs(8), world.read());
    expect(answers.map(({ kind }) => kind)).toEqual(Array.from({ length: 8 }, () => "present"));
    expect(world.provider.callsOf("batchGetInstances")).toHaveLength(7);
  });

  test("tries a read again while the provider is unavailable, three times in all", async () => {
    let failures = 2;
    await world.start({
      batchGetInstances: (request) => {
        if (failures-- > 0) throw contractFailure("CLOUD_UNAVAILABLE", "cloud is down");
        return instancesFor(request);
      },
    });
    expect(await world.sidecar.client.getInstances(refs(1), world.read())).toMatchObject([{ kind: "present" }]);
    failures = 99;
    expect(await world.sidecar.client.getInstances(refs(1), world.read())).toMatchObject([
      { kind: "unknown", error: { reason: "CLOUD_UNAVAILABLE", class: "TRANSIENT" } },
    ]);
    expect(world.provider.callsOf("batchGetInstances")).toHaveLength(6);
  });

  test("gives up when the caller does", async () => {
    await world.start({ batchGetInstances: () => new Promise(() => undefined) });
    const caller = new AbortController();
    const asked = world.sidecar.client.getInstances(refs(1), world.read({ signal: caller.signal }));
    await eventually("the call arrived", () => world.provider.callsOf("batchGetInstances").length === 1);
    caller.abort(new Error("no longer wanted"));
    expect(await asked).toMatchObject([{ kind: "unknown", error: { code: "CANCELLED" } }]);
  });

  test("pauses every call of the group while the cloud throttles, and reports how long", async () => {
    let throttled = true;
    await world.start({
      batchGetInstances: (request) => {
        if (throttled) throw contractFailure("RATE_LIMITED", "slow down", 20_000);
        return instancesFor(request);
      },
    });
    expect(await world.sidecar.client.getInstances(refs(1), world.read())).toMatchObject([
      { kind: "unknown", error: { reason: "RATE_LIMITED", retryAfterMs: 20_000 } },
    ]);
    throttled = false;
    const [held] = await world.sidecar.client.getInstances(refs(1), world.read());
    expect(held).toMatchObject({ kind: "unknown", error: { reason: "RATE_LIMITED", class: "WAIT" } });
    expect(world.provider.callsOf("batchGetInstances")).toHaveLength(1);
    expect(
      await world.sidecar.client.deleteLoadBalancer({ service: SERVICE, annotations: {} }, world.read()),
    ).toMatchObject({
      done: true,
    });
  });
});

function withDefaults(ref: Partial<NodeRef> | undefined): readonly NodeRef[] {
  const [base] = refs(1);
  return base === undefined ? [] : [{ ...base, ...ref }];
}
