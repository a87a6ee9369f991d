import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { describe, expect, onTestFinished, test } from "vitest";
import { absent } from "../results/results.ts";
import { invokeOk } from "../../test/support/invoke.ts";
import { basics, context, serveForTest } from "../../test/support/serve-for-test.ts";

const { methods } = CloudProviderDefinition;

/** A cloud that answers these statuses in turn, the last one for ever. */
const serveCloud = async (statuses: readonly number[], headers: Record<string, string> = {}) => {
  const served: number[] = [];
  const listener: RequestListener = (_request, response) => {
    const code = statuses[Math.min(served.length, statuses.length - 1)] ?? 500;
    served.push(code);
    response.writeHead(code, headers).end("{}");
  };
  const server = createServer(listener).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const address: AddressInfo | string | null = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`, served };
};

/** A provider that believes every 404. */
const serveBeliever = async (url: string) =>
  serveForTest({
    ...basics,
    instances: {
      get: async (node, { fetch }) => {
        const response = await fetch(url);
        return response.ok ? { id: node.id ?? "", name: node.name } : absent("LOOKUP_MISS");
      },
    },
  });

const nodes = [{ name: "a", providerId: "acme://i-1" }];

describe("context.fetch", () => {
  test.each([
    ["a plain 404", [404], { $case: "absent" }],
    ["a 404 after a 503", [503, 404], { $case: "unknown", value: { reason: "CLOUD_UNAVAILABLE" } }],
    ["a 404 after a 429", [429, 404], { $case: "unknown", value: { reason: "RATE_LIMITED" } }],
    ["a 401", [401], { $case: "unknown", value: { reason: "CLOUD_CREDENTIALS_INVALID" } }],
    ["a success after a 503", [503, 200], { $case: "instance" }],
  ])("lets an absence rest on no error: %s", async (_title, statuses, outcome) => {
    const { url } = await serveCloud(statuses);
    const { client } = await serveBeliever(url);
    const { results } = await invokeOk(client, methods.batchGetInstances, { context, nodes });
    expect(results).toMatchObject([{ outcome }]);
  });

  test("counts what an answer cost, repetitions and throttling included", async () => {
    const { url, served } = await serveCloud([429, 503, 200], { "x-request-id": "req" });
    const { client } = await serveBeliever(url);
    const { stats } = await invokeOk(client, methods.batchGetInstances, { context, nodes });
    expect(served).toEqual([429, 503, 200]);
    expect(stats).toMatchObject({
      cloudCalls: 3,
      cloudRetries: 2,
      cloudMutations: 0,
      throttled: true,
      cloudRequestIds: ["req", "req", "req"],
    });
  });

  test("keeps the provider ready after a failure that a repetition overcame", async () => {
    const { url } = await serveCloud([503, 200]);
    const { client } = await serveBeliever(url);
    await invokeOk(client, methods.batchGetInstances, { context, nodes });
    const { conditions } = await invokeOk(client, methods.getProviderStatus, {});
    expect(conditions.map(({ type, status }) => [type, status])).toEqual([
      ["CloudReachable", 1],
      ["CredentialsValid", 1],
    ]);
  });

  test("reports the call budgets in the cloud's headers to the controller", async () => {
    const { url } = await serveCloud([200], { "x-ratelimit-limit": "100", "x-ratelimit-remaining": "42" });
    const { client } = await serveBeliever(url);
    await invokeOk(client, methods.batchGetInstances, { context, nodes });
    const { rateLimits } = await invokeOk(client, methods.getProviderStatus, {});
    expect(rateLimits).toMatchObject([{ name: new URL(url).host, limit: 100n, remaining: 42n }]);
  });
});

describe("context.recordCloudCall", () => {
  test.each([
    ["a proxy's refusal", { status: 407 }, "INCOMPLETE_ANSWER"],
    ["a throttled request", { status: 429 }, "RATE_LIMITED"],
    ["an answer that cannot be read", { error: new SyntaxError("Unexpected end of JSON input") }, "INCOMPLETE_ANSWER"],
  ])("makes an absence after %s unknown", async (_title, cloudCall, reason) => {
    const { client } = await serveForTest({
      ...basics,
      instances: {
        get: (_node, { recordCloudCall }) => {
          recordCloudCall(cloudCall);
          return absent("LOOKUP_MISS");
        },
      },
    });
    const { results } = await invokeOk(client, methods.batchGetInstances, { context, nodes });
    expect(results).toMatchObject([{ outcome: { $case: "unknown", value: { reason } } }]);
  });
});
