import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { LoadBalancerPhase } from "@cloudwire/proto/cloudprovider/v1/load_balancer";
import { status as grpc } from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ChangeContext } from "../../definition/call-context.ts";
import type { GetLoadBalancer, LoadBalancer, LoadBalancerHandlers } from "../../definition/load-balancers.ts";
import type { ProviderDefinition } from "../../definition/provider.ts";
import { absent } from "../../results/results.ts";
import { ProviderError } from "../../results/errors.ts";
import { invoke, invokeOk } from "../../../test/support/invoke.ts";
import { basics, context, eventually, serveForTest } from "../../../test/support/serve-for-test.ts";
import { createTestClock } from "../../testing/test-clock.ts";
import { active, change, ensureRequest, inline, service } from "../../../test/support/serve-load-balancers.ts";

const { methods } = CloudProviderDefinition;

type WithGet = Extract<LoadBalancerHandlers, { readonly get: GetLoadBalancer }>;

/** A provider whose changes end when the test says so, and which keeps no fingerprints. */
const serveSlow = async (handlers: Partial<WithGet> = {}) => {
  const changes: ChangeContext[] = [];
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const work = (changing: ChangeContext) =>
    new Promise<void>((resolve, reject) => {
      changes.push(changing);
      ends.push({ resolve, reject });
      changing.signal.addEventListener("abort", () => reject(changing.signal.reason), { once: true });
    });
  // Abandoned handlers end with the test.
  onTestFinished(() => ends.forEach(({ resolve }) => resolve()));
  const clock = createTestClock();
  const definition = {
    ...basics,
    loadBalancers: {
      get: (lb) => active(lb),
      ensure: async (wanted, changing) => {
        await work(changing);
        return active(wanted);
      },
      updateNodes: async (wanted, changing) => {
        await work(changing);
        return active(wanted);
      },
      delete: async (_lb, changing) => work(changing),
      ...handlers,
    },
  } satisfies ProviderDefinition;
  const served = await serveForTest(definition, { clock });
  /** Lets time pass until a call is answered. */
  const late = async <Answer>(call: Promise<Answer>): Promise<Answer> => {
    const answered = { yet: false };
    void call.finally(() => {
      answered.yet = true;
    });
    await eventually(async () => {
      await clock.advance(1_000);
      return answered.yet;
    });
    return call;
  };
  /**
   * Waits until a call has reached the change serializer, where its patience is a second timer beside its deadline. A list keeps its promise apart.
   */
  const arrived = async <Answer>(call: () => Promise<Answer>): Promise<Promise<Answer>[]> => {
    const before = clock.pendingTimers();
    const answer = call();
    await eventually(() => clock.pendingTimers() >= before + 2);
    return [answer];
  };
  const ensure = () => invokeOk(served.client, methods.ensureLoadBalancer, { ...ensureRequest, change: change() });
  const get = async (operationId = "") => {
    const { outcome } = await invokeOk(served.client, methods.getLoadBalancer, { context, service, operationId });
    return outcome?.$case === "loadBalancer" ? outcome.value : undefined;
  };
  return { ...served, clock, changes, ends, ensure, get, late, arrived };
};

const hint = (loadBalancer: { readonly operation?: { readonly id: string } | undefined } | undefined) =>
  loadBalancer?.operation?.id ?? "none";

describe("a change that takes longer than softCallDurationMs", () => {
  test("is answered as pending, joined by the next call, and done when the promise is", async () => {
    const { ensure, get, late, arrived, changes, ends } = await serveSlow();
    const first = await late(ensure());
    expect(first.loadBalancer).toMatchObject({
      id: hint(first.loadBalancer),
      phase: LoadBalancerPhase.PROVISIONING,
      specFingerprint: "",
      operation: { stage: "the provider is still at work", pollAfter: { seconds: 5n, nanos: 0 } },
    });
    expect(await get(hint(first.loadBalancer))).toMatchObject({
      phase: LoadBalancerPhase.UPDATING,
      operation: { id: hint(first.loadBalancer) },
    });
    const [second] = await arrived(ensure);
    ends[0]?.resolve();
    expect((await second)?.loadBalancer).toMatchObject({
      phase: LoadBalancerPhase.ACTIVE,
      specFingerprint: "spec-1",
      nodesFingerprint: "nodes-1",
      operation: undefined,
    });
    expect(await get(hint(first.loadBalancer))).toMatchObject({ phase: LoadBalancerPhase.ACTIVE, specFingerprint: "" });
    expect(changes.length).toBe(1);
  });

  test("shows what the handler says of its progress, and what it has cost since the last answer", async () => {
    const { ensure, late } = await serveSlow({
      ensure: async (wanted, changing) => {
        changing.recordCloudCall({ status: 201, mutation: true });
        changing.reportProgress({ id: "lb-77", stage: "creating" });
        changing.reportProgress({ stage: "waiting for an address", progressPercent: 40, pollAfterMs: 1_500 });
        await new Promise((resolve) => changing.signal.addEventListener("abort", resolve, { once: true }));
        return active(wanted);
      },
    });
    expect(await late(ensure())).toMatchObject({
      loadBalancer: {
        id: "lb-77",
        operation: {
          stage: "waiting for an address",
          progressPercent: 40,
          pollAfter: { seconds: 1n, nanos: 500_000_000 },
        },
      },
      stats: { cloudCalls: 1, cloudMutations: 1 },
    });
    expect((await late(ensure())).stats).toMatchObject({ cloudCalls: 0 });
  });

  test("reports the remaining time of its call to the handler from the start", async () => {
    const remaining: number[] = [];
    const { ensure } = await serveSlow({
      ensure: (wanted, { remainingMs }) => {
        remaining.push(remainingMs());
        return active(wanted);
      },
    });
    expect((await ensure()).loadBalancer?.phase).toBe(LoadBalancerPhase.ACTIVE);
    // What a call has whose caller set no deadline.
    expect(remaining).toEqual([60_000]);
  });

  test("gives the handler time beyond the call's deadline", async () => {
    const { clock, ensure, late, changes } = await serveSlow();
    await late(ensure());
    await clock.advance(120_000);
    expect(changes.map(({ signal, remainingMs }) => [signal.aborted, remainingMs() > 600_000])).toEqual([
      [false, true],
    ]);
  });

  test("returns its failure to the next Ensure, and reports until then that the spec is not in force", async () => {
    const { client, ensure, get, late, ends } = await serveSlow();
    const operationId = hint((await late(ensure())).loadBalancer);
    ends[0]?.reject(new ProviderError("QUOTA_EXCEEDED", "address quota reached"));
    await eventually(async () => (await get(operationId))?.operation === undefined);
    expect(await get(operationId)).toMatchObject({ phase: LoadBalancerPhase.ACTIVE, specFingerprint: "not in force" });
    expect(await get()).toMatchObject({ specFingerprint: "not in force" });
    const again = await invoke(client, methods.ensureLoadBalancer, { ...ensureRequest, change: change() });
    expect(again).toMatchObject({ code: grpc.RESOURCE_EXHAUSTED, reason: "QUOTA_EXCEEDED" });
  });

  test("shows in lists as in reads, while it goes on and after it has failed", async () => {
    const { client, ensure, late, ends } = await serveSlow({
      async *list() {
        yield { id: "lb-1", service };
        yield { id: "lb-2", service: { ...service, uid: "uid-2" } };
      },
    });
    const listed = async () => {
      const { loadBalancers } = await invokeOk(client, methods.listLoadBalancers, { context });
      return loadBalancers.map(({ phase, operation, specFingerprint }) => [phase, operation?.stage, specFingerprint]);
    };
    const { ACTIVE, UPDATING } = LoadBalancerPhase;
    await late(ensure());
    expect(await listed()).toEqual([
      [UPDATING, "the provider is still at work", ""],
      [ACTIVE, undefined, ""],
    ]);
    ends[0]?.reject(new Error("no"));
    await eventually(async () => (await listed())[0]?.[0] === ACTIVE);
    expect(await listed()).toEqual([
      [ACTIVE, undefined, "not in force"],
      [ACTIVE, undefined, ""],
    ]);
  });

  test("is not believed done when the process that carried it out is gone", async () => {
    const { get } = await serveSlow();
    expect(await get("cloudwire-operation/another-boot/1")).toMatchObject({ specFingerprint: "not in force" });
    expect(await get("op-of-the-vendor")).toMatchObject({ specFingerprint: "" });
  });

  test("is ended by a deletion, which follows it", async () => {
    const deleted: (string | undefined)[] = [];
    const { client, ensure, late, changes } = await serveSlow({
      delete: ({ id, operationId }) => {
        deleted.push(id, operationId);
      },
    });
    const operationId = hint((await late(ensure())).loadBalancer);
    const answer = await invokeOk(client, methods.deleteLoadBalancer, {
      context,
      service,
      loadBalancerId: operationId,
      operationId,
      change: change(),
    });
    expect([answer.done, changes[0]?.signal.aborted]).toEqual([true, true]);
    // Ids that the SDK made up are no ids of the cloud.
    expect(deleted).toEqual([undefined, undefined]);
  });

  test("is answered as pending when it is a deletion, too", async () => {
    const { client, late, arrived, ends } = await serveSlow();
    const remove = () => invokeOk(client, methods.deleteLoadBalancer, { context, service, change: change() });
    const first = await late(remove());
    expect([first.done, hint(first)]).toEqual([false, expect.stringMatching(/^cloudwire-operation\//)]);
    const [second] = await arrived(remove);
    ends[0]?.resolve();
    expect(await second).toMatchObject({ done: true, operation: undefined });
  });

  test.each(["made", "deleted"])(
    "is not absent while it is being %s, though the cloud does not show it",
    async (which) => {
      const served = await serveSlow({ get: () => absent("LOOKUP_MISS") });
      const remove = () =>
        invokeOk(served.client, methods.deleteLoadBalancer, { context, service, change: change() }).then(
          ({ operation }) => ({ loadBalancer: { operation } }),
        );
      const { loadBalancer } = await served.late<Awaited<ReturnType<typeof remove>>>(
        which === "made"
          ? served.ensure().then((answer) => ({ loadBalancer: { operation: answer.loadBalancer?.operation } }))
          : remove(),
      );
      expect(await served.get()).toMatchObject({ specFingerprint: "", operation: { id: hint(loadBalancer) } });
      served.ends[0]?.resolve();
      await eventually(async () => (await served.get()) === undefined);
    },
  );

  test("is answered as pending when it is one of nodes, too", async () => {
    const { client, late } = await serveSlow();
    const request = { context, service, loadBalancerId: "lb-1", nodes: inline("nodes-2", 1), change: change() };
    const { loadBalancer } = await late(invokeOk(client, methods.updateLoadBalancerNodes, request));
    expect(loadBalancer).toMatchObject({ id: "lb-1", phase: LoadBalancerPhase.UPDATING, nodesFingerprint: "" });
  });

  test.each([
    ["service", 1],
    ["provider", 0],
  ] as const)("is answered early or not, with lockScope %s", async (lockScope, early) => {
    const { clock, ensure, ends } = await serveSlow({ features: { lockScope } });
    const answer = ensure();
    await eventually(() => ends.length === 1);
    await clock.advance(15_000);
    ends[0]?.resolve();
    expect((await answer).loadBalancer?.operation === undefined ? 0 : 1).toBe(early);
  });

  test("ends when the provider shuts down", async () => {
    const { ensure, late, provider, changes } = await serveSlow();
    await late(ensure());
    await provider.close();
    expect(changes[0]?.signal.reason).toMatchObject({ reason: "PROVIDER_DRAINING" });
  });
});

describe("the nodes that a provider is shown as changed", () => {
  test("are counted from the last successful change, and omitted after a failed one", async () => {
    const diffs: unknown[] = [];
    let fails = false;
    const { client } = await serveSlow({
      ensure: (wanted): LoadBalancer => {
        diffs.push(wanted.nodesDiff && Object.values(wanted.nodesDiff).map((nodes) => nodes.length));
        if (fails) throw new ProviderError("NOT_READY", "later");
        return active(wanted);
      },
    });
    const ensure = (fingerprint: string, ...nodes: readonly number[]) =>
      invoke(client, methods.ensureLoadBalancer, {
        ...ensureRequest,
        nodes: inline(fingerprint, ...nodes),
        change: change(),
      });
    await ensure("a", 1);
    await ensure("b", 1, 2);
    fails = true;
    await ensure("c", 3);
    fails = false;
    await ensure("d", 1, 2);
    await ensure("e", 2);
    expect(diffs).toEqual([undefined, [1, 0, 0], [1, 0, 2], undefined, [0, 0, 1]]);
  });

  test("are none while there is no load balancer", async () => {
    const { get } = await serveSlow({ get: () => absent("LOOKUP_MISS") });
    expect(await get()).toBeUndefined();
  });
});
