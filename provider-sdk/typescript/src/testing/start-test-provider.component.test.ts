import { existsSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { absent } from "../results/results.ts";
import type { ProviderDefinition } from "../definition/provider.ts";
import { ProviderError } from "../results/errors.ts";
import { ensureRequest, serviceRef } from "./requests.ts";
import { startTestProvider, type TestProviderOptions } from "./start-test-provider.ts";
import { createTestClock } from "./test-clock.ts";

const definition: ProviderDefinition = {
  name: "acme.example.com",
  version: "1.0.0",
  idPrefix: "acme://",
  scope: () => "acct-1",
  check: () => undefined,
  instances: {
    get: ({ id }) => (id === "i-1" ? { id, name: "web-1" } : absent("LOOKUP_MISS")),
    async *watch(_request, { signal }) {
      yield { kind: "upsert", instance: { id: "i-1", name: "web-1" } };
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
  },
  loadBalancers: {
    get: () => absent("LOOKUP_MISS"),
    ensure: ({ key, ports, nodes }) => {
      if (ports[0]?.port === 81)
        throw new ProviderError("QUOTA_EXCEEDED", "no load balancer is left", { retryAfterMs: 1_500 });
      return { id: `${key}-${nodes.length}`, ingress: [{ ip: "192.0.2.1" }] };
    },
    delete: () => undefined,
  },
};

/** Machines whose look-up never ends. */
const hanging = () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const get = (): Promise<never> => {
    resolve();
    return new Promise(() => undefined);
  };
  return { instances: { get }, asked };
};

const serve = async (changes: Partial<ProviderDefinition> = {}, options?: TestProviderOptions) => {
  // A union does not survive the spread.
  const provider = await startTestProvider(Object.assign({ ...definition }, changes), options);
  onTestFinished(() => provider.close());
  return provider;
};

describe("startTestProvider()", () => {
  test("shows how a change goes on that takes longer than a call should", async () => {
    const clock = createTestClock();
    const made = Promise.withResolvers<void>();
    const ensure = () => made.promise.then(() => ({ id: "lb-1", ingress: [{ ip: "192.0.2.1" }] }));
    const loadBalancers = { get: () => absent("LOOKUP_MISS"), ensure, delete: () => undefined };
    const { client } = await serve({ loadBalancers }, { clock });
    const ask = () => clock.runUntil(client.ensureLoadBalancer(ensureRequest()));
    expect((await ask()).loadBalancer?.operation).toMatchObject({ stage: "the provider is still at work" });
    made.resolve();
    expect((await ask()).loadBalancer).toMatchObject({ id: "lb-1", operation: undefined });
  });

  test("serves a provider that has been checked, with context and change filled in", async () => {
    const { client } = await serve();
    expect(await client.getProviderInfo()).toMatchObject({ name: "acme.example.com", scopeId: "acct-1" });
    expect(await client.getProviderStatus()).toMatchObject({ ready: true, scopeId: "acct-1" });
    expect(await client.batchGetInstances({ nodes: [{ name: "web-1", providerId: "acme://i-1" }] })).toMatchObject({
      results: [{ outcome: { $case: "instance", value: { providerId: "acme://i-1" } } }],
    });
    const made = await client.ensureLoadBalancer(ensureRequest({ nodes: { n1: "acme://i-1", n2: "acme://i-2" } }));
    expect(made).toMatchObject({ loadBalancer: { id: expect.stringMatching(/-2$/), service: { name: "web" } } });
    expect(await client.deleteLoadBalancer({ service: serviceRef("default/web") })).toMatchObject({ done: true });
  });

  test("rejects with what the controller would see of an error", async () => {
    const { client } = await serve();
    await expect(client.ensureLoadBalancer(ensureRequest({ ports: [81] }))).rejects.toMatchObject({
      name: "ProviderCallError",
      code: "RESOURCE_EXHAUSTED",
      reason: "QUOTA_EXCEEDED",
      domain: "cloudprovider.v1",
      retryAfterMs: 1_500,
      message: "EnsureLoadBalancer: RESOURCE_EXHAUSTED QUOTA_EXCEEDED: no load balancer is left",
    });
    await expect(client.batchGetInstances({ nodes: [{}] })).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      fields: ["nodes[0].name"],
    });
    await expect(client.listRoutes()).rejects.toMatchObject({ code: "UNIMPLEMENTED", reason: "CAPABILITY_ABSENT" });
  });

  test("streams until the loop is left, and ends the provider's work with it", async () => {
    const { client, logged } = await serve();
    const seen = [];
    for await (const { event } of client.watchInstances({ sendInitialEvents: true })) {
      seen.push(event?.$case);
      break;
    }
    expect(seen).toEqual(["upsert"]);
    await expect.poll(() => logged.some((line) => line.includes("WatchInstances"))).toBe(true);
  });

  test("gives a call up when its signal is aborted", async () => {
    const { instances, asked } = hanging();
    const { client } = await serve({ instances });
    const giveUp = new AbortController();
    const answer = client.batchGetInstances({ nodes: [{ name: "web-1" }] }, { signal: giveUp.signal });
    const failure = answer.catch((error: unknown) => error);
    await asked;
    giveUp.abort();
    expect(await failure).toMatchObject({ code: "CANCELLED", reason: undefined });
  });

  test("moves checks with its clock", async () => {
    const clock = createTestClock();
    let checks = 0;
    const { client } = await serve({ check: () => void checks++ }, { clock });
    expect(checks).toBe(1);
    await clock.advance(59_999);
    expect(checks).toBe(1);
    await clock.advance(1);
    expect([checks, (await client.getProviderStatus()).lastCloudSuccessTime?.getTime()]).toEqual([2, clock.nowMs()]);
  });

  test("ends a handler at its deadline by its clock", async () => {
    const clock = createTestClock();
    const { instances, asked } = hanging();
    const { client } = await serve({ instances }, { clock });
    const answer = client.batchGetInstances({ nodes: [{ name: "web-1" }] }, { deadlineMs: 60_000 });
    const failure = answer.catch((error: unknown) => error);
    await asked;
    await clock.advance(60_000);
    expect(await failure).toMatchObject({ code: "UNAVAILABLE", reason: "CLOUD_TIMEOUT" });
  });

  test("removes its socket, and may be closed twice", async () => {
    const provider = await serve();
    const path = provider.address.replace("unix://", "");
    expect(existsSync(path)).toBe(true);
    await provider.close();
    await provider.close();
    expect(existsSync(path)).toBe(false);
  });

  test("says every mistake in a definition", async () => {
    await expect(serve({ name: "", version: "" })).rejects.toMatchObject({ name: "ProviderStartError" });
  });
});
