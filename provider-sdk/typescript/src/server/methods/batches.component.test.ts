import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { status as grpc } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import type { InstanceFeatures, InstanceHandlers } from "../../definition/instances.ts";
import { absent, notOwned, pending } from "../../results/results.ts";
import type { RouteHandlers } from "../../definition/routes.ts";
import { ProviderError } from "../../results/errors.ts";
import { invoke, invokeOk } from "../../../test/support/invoke.ts";
import { basics, context, eventually, serveForTest } from "../../../test/support/serve-for-test.ts";

const { methods } = CloudProviderDefinition;

const getting = (get: NonNullable<InstanceHandlers["get"]>, features: InstanceFeatures = {}) =>
  serveForTest({ ...basics, instances: { features, get } });

const found = ({ id, name }: { readonly id?: string | undefined; readonly name: string }) => ({ id: id ?? name, name });
const byId = (...ids: readonly string[]) => ids.map((id) => ({ name: id, providerId: `acme://${id}` }));

describe("BatchGetInstances from get()", () => {
  test("asks equal questions once, at most 16 at a time, and answers each in its place", async () => {
    const asked: string[] = [];
    let running = 0;
    let most = 0;
    const { client } = await getting(async (node) => {
      asked.push(node.name);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running -= 1;
      return found(node);
    });
    const ids = Array.from({ length: 60 }, (_, index) => `i-${index % 40}`);
    const { results } = await invokeOk(client, methods.batchGetInstances, { context, nodes: byId(...ids) });
    expect(results.map(({ outcome }) => outcome?.$case === "instance" && outcome.value.providerId)).toEqual(
      ids.map((id) => `acme://${id}`),
    );
    expect([asked.length, most]).toEqual([40, 16]);
  });

  test("shares a look-up under way with another call, but not with one that wants the cloud read now", async () => {
    const release = Promise.withResolvers<void>();
    let asked = 0;
    const { client } = await getting(async (node) => {
      asked += 1;
      await release.promise;
      return found(node);
    });
    const request = { context, nodes: byId("i-1") };
    const first = invokeOk(client, methods.batchGetInstances, request);
    await eventually(() => asked === 1);
    const second = invokeOk(client, methods.batchGetInstances, request);
    const now = invokeOk(client, methods.batchGetInstances, { ...request, maxDataAge: { seconds: 0n, nanos: 0 } });
    await eventually(() => asked === 2);
    release.resolve();
    const answers = await Promise.all([first, second, now]);
    expect(answers.map(({ results }) => results[0]?.outcome?.$case)).toEqual(["instance", "instance", "instance"]);
    expect(asked).toBe(2);
  });

  test("keeps the prefix under which a machine was asked for", async () => {
    const { client } = await serveForTest({
      ...basics,
      idPrefix: undefined,
      idPrefixes: ["acme://", "acme-legacy://"],
      instances: { get: found },
    });
    const nodes = [{ name: "a", providerId: "acme-legacy://i-1" }, { name: "b" }];
    const { results } = await invokeOk(client, methods.batchGetInstances, { context, nodes });
    expect(results.map(({ outcome }) => outcome?.$case === "instance" && outcome.value.providerId)).toEqual([
      "acme-legacy://i-1",
      "acme://b",
    ]);
  });

  test.each([
    ["another machine than asked for", () => ({ id: "i-2", name: "n" }), "INVARIANT_BROKEN"],
    ["a machine without name", () => ({ id: "i-1", name: "" }), "INVARIANT_BROKEN"],
    ["an HTTP 404", () => Promise.reject(Object.assign(new Error("no"), { status: 404 })), "UNMAPPED_ERROR"],
    ["an HTTP 401", () => Promise.reject(Object.assign(new Error("no"), { status: 401 })), "CLOUD_CREDENTIALS_INVALID"],
    [
      "a refused connection",
      () => Promise.reject(Object.assign(new Error("no"), { code: "ECONNREFUSED" })),
      "CLOUD_UNAVAILABLE",
    ],
  ])("answers unknown for %s", async (_title, get, reason) => {
    const { client } = await getting(get);
    const { results } = await invokeOk(client, methods.batchGetInstances, { context, nodes: byId("i-1") });
    expect(results).toMatchObject([{ outcome: { $case: "unknown", value: { reason } } }]);
  });

  test.each([
    ["an error of the cloud", { status: 503 }, "CLOUD_UNAVAILABLE"],
    // Some clouds are read by POST, which counts as a change until the vendor says otherwise.
    ["a change that timed out", { error: new DOMException("late", "TimeoutError"), mutation: true }, "DEADLINE_PASSED"],
  ])(
    "does not pass on an absence after %s in the same look-up, but does for the others",
    async (_title, cloudCall, reason) => {
      const { client } = await getting((node, { recordCloudCall }) => {
        if (node.name === "unreliable") recordCloudCall(cloudCall);
        return absent("LOOKUP_MISS");
      });
      const { results } = await invokeOk(client, methods.batchGetInstances, {
        context,
        nodes: byId("unreliable", "gone"),
      });
      expect(results).toMatchObject([
        { outcome: { $case: "unknown", value: { reason } } },
        { outcome: { $case: "absent", value: { basis: 2 } } },
      ]);
    },
  );

  test.each([
    ["younger than the delay", { createTime: new Date() }, absent("LOOKUP_MISS"), "unknown"],
    ["older", { createTime: new Date(Date.now() - 600_000) }, absent("LOOKUP_MISS"), "absent"],
    ["young but terminated", { createTime: new Date() }, absent("TERMINATED"), "absent"],
    [
      "young but read consistently",
      { createTime: new Date() },
      absent("LOOKUP_MISS", { stronglyConsistent: true }),
      "absent",
    ],
  ])("answers a Node that is %s", async (_title, node, answer, outcome) => {
    const { client } = await getting(() => answer, { existenceConsistencyDelayMs: 60_000 });
    const { results } = await invokeOk(client, methods.batchGetInstances, {
      context,
      nodes: [{ name: "n1", ...node }],
    });
    expect(results[0]?.outcome?.$case).toBe(outcome);
  });

  test("does not look up by name where the provider cannot", async () => {
    const { client } = await getting(found, { lookupByName: false });
    const { results } = await invokeOk(client, methods.batchGetInstances, { context, nodes: [{ name: "n1" }] });
    expect(results).toMatchObject([{ outcome: { $case: "unknown", value: { reason: "FEATURE_UNSUPPORTED" } } }]);
  });

  test("refuses no item and one item too many", async () => {
    const { client } = await getting(found, { maxBatchSize: 2 });
    const ask = (...ids: readonly string[]) =>
      invoke(client, methods.batchGetInstances, { context, nodes: byId(...ids) });
    expect(await ask()).toMatchObject({ reason: "BATCH_EMPTY", fields: ["nodes"] });
    expect(await ask("a", "b", "c")).toMatchObject({ reason: "BATCH_TOO_LARGE", metadata: { limit: "2" } });
    expect((await ask("a", "b")).kind).toBe("ok");
  });
});

/** A value that a vendor's code takes from a cloud's JSON without checking its type. */
const untyped = (json: string): ReturnType<typeof found> => JSON.parse(json);

describe.each(["get", "getMany"] as const)(
  "BatchGetInstances from %s() that answers one machine wrongly",
  (handler) => {
    test.each([
      ["null", "null"],
      ["a text", '"running"'],
      ["a list", '[{"id":"bad","name":"bad"}]'],
      ["an id that is a number", '{"id":42,"name":"bad"}'],
      ["no id", '{"name":"bad"}'],
      ["a time that is a text", '{"id":"bad","name":"bad","createTime":"2026-01-01T00:00:00Z"}'],
      ["a time of reading that is a text", '{"id":"bad","name":"bad","readTime":"2026-01-01T00:00:00Z"}'],
      ["addresses that are null", '{"id":"bad","name":"bad","addresses":null}'],
    ])("answers the others: %s", async (_title, json) => {
      const answer = (ref: { readonly name: string }) => (ref.name === "bad" ? untyped(json) : found(ref));
      const instances: InstanceHandlers = handler === "get" ? { get: answer } : { getMany: (refs) => refs.map(answer) };
      const { client } = await serveForTest({ ...basics, instances });
      const nodes = [{ name: "good" }, { name: "bad" }];
      const { results } = await invokeOk(client, methods.batchGetInstances, { context, nodes });
      expect(results.map(({ outcome }) => outcome)).toMatchObject([
        { $case: "instance", value: { name: "good" } },
        { $case: "unknown", value: { reason: "INVARIANT_BROKEN" } },
      ]);
    });
  },
);

describe("BatchGetInstances from getMany()", () => {
  const many = (getMany: NonNullable<InstanceHandlers["getMany"]>) =>
    serveForTest({ ...basics, instances: { getMany } });

  test("answers per item, errors included", async () => {
    const { client } = await many(() => [
      { id: "a", name: "a" },
      new ProviderError("AMBIGUOUS_NAME", "three machines have this name"),
      notOwned("another account"),
    ]);
    const { results } = await invokeOk(client, methods.batchGetInstances, { context, nodes: byId("a", "b", "c") });
    expect(results.map(({ outcome }) => outcome?.$case)).toEqual(["instance", "unknown", "notOwned"]);
  });

  test("does not conclude absence from a list in which an item failed", async () => {
    const { client } = await many(() => [
      absent("COMPLETE_LIST_MISS"),
      new ProviderError("ZONE_UNREACHABLE", "zone b", { metadata: { zone: "b" } }),
      absent("LOOKUP_MISS"),
    ]);
    const { results } = await invokeOk(client, methods.batchGetInstances, { context, nodes: byId("a", "b", "c") });
    expect(results.map(({ outcome }) => outcome?.$case)).toEqual(["unknown", "unknown", "unknown"]);
  });

  test("calls a reason that does not belong there an invariant broken, with its text", async () => {
    const { client, logged } = await many(() => [new ProviderError("CIDR_CONFLICT", "no such thing here")]);
    const { results } = await invokeOk(client, methods.batchGetInstances, { context, nodes: byId("a") });
    expect(results).toMatchObject([
      {
        outcome: {
          $case: "unknown",
          value: {
            reason: "INVARIANT_BROKEN",
            message: "CIDR_CONFLICT is no reason of an item of BatchGetInstances: no such thing here",
          },
        },
      },
    ]);
    expect(logged.join("")).toContain("CIDR_CONFLICT");
  });

  test("is an invariant broken when answers are missing", async () => {
    const { client } = await many(() => []);
    const outcome = await invoke(client, methods.batchGetInstances, { context, nodes: byId("a") });
    expect(outcome).toMatchObject({ code: grpc.INTERNAL, reason: "INVARIANT_BROKEN" });
  });
});

describe("GetProviderStatus", () => {
  test("learns from what a handler throws, and not from a caller that gives up", async () => {
    const { client } = await serveForTest({
      ...basics,
      instances: {
        getMany: async (nodes, { signal }) => {
          if (nodes[0]?.name === "slow") {
            await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
            throw signal.reason;
          }
          throw new ProviderError("CLOUD_UNAVAILABLE", "no route to the cloud");
        },
      },
    });
    const ready = async () => (await invokeOk(client, methods.getProviderStatus, {})).ready;
    await eventually(ready);
    await invoke(client, methods.batchGetInstances, { context, nodes: byId("slow") }, { deadlineMs: 30 });
    expect(await ready()).toBe(true);
    await invoke(client, methods.batchGetInstances, { context, nodes: byId("a") });
    expect(await ready()).toBe(false);
  });

  test("learns from real calls that credentials went bad and that they work again", async () => {
    let status = 401;
    const { client } = await getting((node, { recordCloudCall }) => {
      recordCloudCall({ status });
      return found(node);
    });
    const ready = async () => (await invokeOk(client, methods.getProviderStatus, {})).ready;
    await eventually(ready);
    await invokeOk(client, methods.batchGetInstances, { context, nodes: byId("a") });
    const bad = await invokeOk(client, methods.getProviderStatus, {});
    expect(bad.ready).toBe(false);
    expect(bad.conditions.map(({ type, status: holds }) => [type, holds])).toEqual([
      ["CloudReachable", 1],
      ["CredentialsValid", 2],
    ]);
    status = 200;
    await invokeOk(client, methods.batchGetInstances, { context, nodes: byId("b") });
    expect(await ready()).toBe(true);
  });
});

describe("BatchGetVolumes", () => {
  test("asks for volumes of declared drivers and calls the others not mine", async () => {
    const { client } = await serveForTest({
      ...basics,
      volumes: {
        features: { csiDrivers: ["csi.acme.example.com"] },
        get: ({ source }) =>
          source.kind === "csi" ? { id: source.volumeHandle, zones: ["b", "a"] } : absent("LOOKUP_MISS"),
      },
    });
    const csi = (driver: string) => ({ $case: "csi" as const, value: { driver, volumeHandle: "vol-1" } });
    const { results } = await invokeOk(client, methods.batchGetVolumes, {
      context,
      volumes: [
        { name: "pv-1", source: csi("csi.acme.example.com") },
        { name: "pv-2", source: csi("other") },
        { name: "pv-3" },
      ],
    });
    expect(results).toMatchObject([
      { outcome: { $case: "volume", value: { id: "vol-1", zones: ["a", "b"] } } },
      { outcome: { $case: "notOwned" } },
      { outcome: { $case: "unknown", value: { reason: "FIELD_MISSING" } } },
    ]);
  });
});

describe("routes", () => {
  const routing = (
    routes: Partial<Extract<RouteHandlers, { readonly ensure: unknown; readonly delete: unknown }>> = {},
  ) =>
    serveForTest({
      ...basics,
      routes: {
        async *list() {},
        ensure: ({ destinationCidr, targetId }) => ({ id: "r-1", destinationCidr, targetId }),
        delete: () => undefined,
        ...routes,
      },
    });
  const route = (destinationCidr: string, targetProviderId = "acme://i-1") => ({ destinationCidr, targetProviderId });

  test("are ensured one by one, each with its own outcome, in order", async () => {
    const { client } = await routing({
      ensure: ({ destinationCidr, targetId }) => {
        if (destinationCidr === "10.1.0.0/24") throw new ProviderError("CIDR_CONFLICT", "in use");
        if (destinationCidr === "10.2.0.0/24") return pending("r-2");
        return { id: "r-1", destinationCidr, targetId };
      },
    });
    const cidrs = ["10.0.0.0/24", "10.1.0.0/24", "10.2.0.0/24"];
    const { results } = await invokeOk(client, methods.batchEnsureRoutes, {
      context,
      change: { requestId: "r-1" },
      routes: [...cidrs.map((cidr) => route(cidr)), route("10.3.0.0/24", "gce://1")],
    });
    expect(results).toMatchObject([
      { outcome: { $case: "route", value: { targetProviderId: "acme://i-1" } } },
      { outcome: { $case: "error", value: { reason: "CIDR_CONFLICT" } } },
      { outcome: { $case: "operation" } },
      { outcome: { $case: "error", value: { reason: "ROUTE_TARGET_NOT_FOUND" } } },
    ]);
  });

  test("that a newer change has passed are refused, the others are not", async () => {
    const { client } = await routing();
    const ask = (sequence: bigint, ...cidrs: readonly string[]) =>
      invokeOk(client, methods.batchEnsureRoutes, {
        context,
        change: { requestId: `r-${sequence}`, sequence },
        routes: cidrs.map((cidr) => route(cidr)),
      });
    await ask(5n, "10.0.0.0/24");
    expect((await ask(4n, "10.0.0.0/24", "10.1.0.0/24")).results).toMatchObject([
      { outcome: { $case: "error", value: { reason: "STALE_GENERATION" } } },
      { outcome: { $case: "route" } },
    ]);
  });

  test("that a newer change failed to make are rejected, because it may have reached the cloud", async () => {
    const { client } = await routing({
      ensure: () => {
        throw new ProviderError("CLOUD_TIMEOUT", "no answer");
      },
    });
    const ask = async (sequence: bigint) => {
      const request = { context, change: { requestId: `r-${sequence}`, sequence }, routes: [route("10.0.0.0/24")] };
      return (await invokeOk(client, methods.batchEnsureRoutes, request)).results;
    };
    expect(await ask(5n)).toMatchObject([{ outcome: { $case: "error", value: { reason: "CLOUD_TIMEOUT" } } }]);
    expect(await ask(4n)).toMatchObject([{ outcome: { $case: "error", value: { reason: "STALE_GENERATION" } } }]);
  });

  test("with host bits, of another family or without target are refused together", async () => {
    const { client } = await routing();
    const outcome = await invoke(client, methods.batchEnsureRoutes, {
      context,
      change: { requestId: "r-1" },
      routes: [route("10.0.0.1/24"), route("fd00::/64"), route("10.0.0.0/24", ""), route("10.0.0.0/99")],
    });
    expect(outcome).toMatchObject({
      reason: "FIELD_INVALID",
      fields: [
        "routes[0].destination_cidr",
        "routes[1].destination_cidr",
        "routes[2].target_provider_id",
        "routes[3].destination_cidr",
      ],
    });
  });

  test("are listed with the quota and deleted as they were listed", async () => {
    const deleted: unknown[] = [];
    const { client } = await routing({
      async *list({ reportQuota }) {
        reportQuota({ limit: 100, used: 7 });
        yield { id: "r-1", destinationCidr: "10.0.0.0/24", targetId: "i-1" };
        yield { id: "r-2", destinationCidr: "10.0.1.0/24", blackhole: true };
      },
      delete: ({ id }) => void deleted.push(id),
    });
    const listed = await invokeOk(client, methods.listRoutes, { context });
    expect(listed).toMatchObject({ complete: true, quota: { limit: 100, used: 7 }, routes: [{}, { blackhole: true }] });
    const { results } = await invokeOk(client, methods.batchDeleteRoutes, {
      context,
      change: { requestId: "r-2" },
      routes: listed.routes,
    });
    // The machine of the second is gone, and with it its target.
    expect(results).toMatchObject(["r-1", "r-2"].map((id) => ({ outcome: { $case: "route", value: { id } } })));
    expect(deleted).toEqual(["r-1", "r-2"]);
  });
});
