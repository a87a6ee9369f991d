import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { describe, expect, test } from "vitest";
import type { SingleInstanceHandlers } from "../../definition/instances.ts";
import { absent } from "../../results/results.ts";
import type { ProviderDefinition } from "../../definition/provider.ts";
import { ProviderError } from "../../results/errors.ts";
import { invoke, invokeOk, openStream } from "../../../test/support/invoke.ts";
import { basics, context, eventually, serveForTest } from "../../../test/support/serve-for-test.ts";
import { parseHttpAddress } from "./http-port.ts";

const { methods } = CloudProviderDefinition;
const nodes = [{ name: "a", providerId: "acme://i-1" }];

const serveWithPort = async (
  definition: Partial<SingleInstanceHandlers> = {},
  check: ProviderDefinition["check"] = basics.check,
) => {
  const served = await serveForTest(
    { ...basics, check, instances: { get: () => absent("LOOKUP_MISS"), ...definition } },
    { httpAddress: { host: "127.0.0.1", port: 0 } },
  );
  const ask = async (path: string, method = "GET") => {
    const response = await fetch(`http://${served.provider.httpAddress}${path}`, { method });
    return { status: response.status, type: response.headers.get("content-type"), body: await response.text() };
  };
  /** Lines of one family. */
  const samples = async (family: string) =>
    (await ask("/metrics")).body.split("\n").filter((line) => line.startsWith(family));
  return { ...served, ask, samples };
};

describe("the HTTP port", () => {
  test("answers that the process lives, whatever the cloud does, and that it is ready when the cloud can be reached", async () => {
    let isDown = true;
    const { ask } = await serveWithPort({}, () => {
      if (isDown) throw new ProviderError("CLOUD_UNAVAILABLE", "no route to the cloud");
    });
    await eventually(async () => (await ask("/readyz")).body.includes("no route"));
    expect(await ask("/livez")).toMatchObject({ status: 200, body: "ok\n" });
    expect(await ask("/readyz")).toMatchObject({
      status: 503,
      body: expect.stringContaining("CloudReachable: CloudUnavailable: no route to the cloud\n"),
    });
    isDown = false;
  });

  test("is ready when the cloud answers, and no longer during shutdown", async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const { ask, client, provider } = await serveWithPort({
      get: async () => {
        asked.resolve();
        await answer.promise;
        return absent("LOOKUP_MISS");
      },
    });
    await eventually(async () => (await ask("/readyz")).status === 200);
    const call = invoke(client, methods.batchGetInstances, { context, nodes });
    await asked.promise;
    const closed = provider.close();
    expect(await ask("/readyz")).toMatchObject({ status: 503, body: "shutting down\n" });
    answer.resolve();
    await Promise.all([call, closed]);
    await expect(ask("/livez")).rejects.toThrow("fetch failed");
  });

  test.each([
    ["GET", "/", 404],
    ["GET", "/metrics/../secret", 404],
    ["POST", "/metrics", 405],
    ["HEAD", "/livez?verbose", 200],
  ])("answers %s %s with %i", async (method, path, status) => {
    const { ask } = await serveWithPort();
    expect((await ask(path, method)).status).toBe(status);
  });

  test("counts calls by method, code and reason, and requests to the cloud by outcome", async () => {
    const { client, samples } = await serveWithPort({
      get: (_node, { recordCloudCall }) => {
        for (const status of [200, 404, 403, 429, 503]) recordCloudCall({ status });
        recordCloudCall({ error: new Error("no answer"), retry: true });
        return absent("LOOKUP_MISS");
      },
    });
    await invokeOk(client, methods.batchGetInstances, { context, nodes });
    await invoke(client, methods.batchGetInstances, { context, nodes: [] });
    await invoke(client, methods.listRoutes, { context });
    expect(await samples("cloudwire_provider_call_duration_seconds_count")).toEqual([
      'cloudwire_provider_call_duration_seconds_count{method="BatchGetInstances",code="OK",reason=""} 1',
      'cloudwire_provider_call_duration_seconds_count{method="BatchGetInstances",code="INVALID_ARGUMENT",reason="BATCH_EMPTY"} 1',
      'cloudwire_provider_call_duration_seconds_count{method="ListRoutes",code="UNIMPLEMENTED",reason="CAPABILITY_ABSENT"} 1',
    ]);
    expect((await samples("cloudwire_provider_cloud_calls_total")).toSorted()).toEqual(
      ["client_error", "denied", "no_answer", "server_error", "success", "throttled"].map(
        (outcome) => `cloudwire_provider_cloud_calls_total{outcome="${outcome}"} 1`,
      ),
    );
    expect(await samples("cloudwire_provider_cloud_retries_total")).toEqual([
      "cloudwire_provider_cloud_retries_total 1",
    ]);
  });

  test("counts calls under way, streams too, and forgets them when they end", async () => {
    const { client, samples } = await serveWithPort({
      async *watch(_request, { signal }) {
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        yield { kind: "bookmark" };
      },
    });
    const inFlight = async () => (await samples("cloudwire_provider_calls_in_flight")).join("\n");
    const stream = openStream(client, methods.watchInstances, { context });
    stream.on("error", () => undefined);
    await eventually(async () => (await inFlight()).endsWith('{method="WatchInstances"} 1'));
    stream.cancel();
    await eventually(async () => !(await inFlight()).endsWith(" 1"));
    expect(await inFlight()).toMatch(/\{method="WatchInstances"\} 0$/);
  });

  test("says what runs, and whether it is ready", async () => {
    const { samples, ask } = await serveWithPort();
    await eventually(async () => (await samples("cloudwire_provider_ready")).includes("cloudwire_provider_ready 1"));
    const version = String(
      JSON.parse(await readFile(join(import.meta.dirname, "../../../package.json"), "utf8")).version,
    );
    expect(await samples("cloudwire_provider_build_info")).toEqual([
      `cloudwire_provider_build_info{name="acme.example.com",version="1.0.0",sdk="${version}",runtime="node ${process.version}"} 1`,
    ]);
    expect((await ask("/metrics")).type).toContain("text/plain; version=0.0.4");
  });

  test("serves every family that the README has a row for, with that type, and no other", async () => {
    const { ask } = await serveWithPort();
    const types = (await ask("/metrics")).body.matchAll(/^# TYPE (\S+) (\S+)$/gm);
    const readme = await readFile(join(import.meta.dirname, "../../../README.md"), "utf8");
    const rows = readme.matchAll(/^\| `([a-z_]+)` \| (counter|gauge|histogram) \|/gm);
    const byName = (found: Iterable<RegExpMatchArray>) =>
      Object.fromEntries([...found].map(([, name = "", type]) => [name, type]));
    expect(byName(rows)).toEqual(byName(types));
  });

  test("fails before it creates the socket when another process has the port", async () => {
    const { provider } = await serveWithPort();
    const port = Number(provider.httpAddress?.split(":").at(-1));
    const second = serveForTest(
      { ...basics, instances: { get: () => absent("LOOKUP_MISS") } },
      { httpAddress: { host: "127.0.0.1", port } },
    );
    await expect(second).rejects.toMatchObject({
      code: "ENDPOINT_UNAVAILABLE",
      message: expect.stringContaining("change CLOUD_PROVIDER_HTTP_ADDRESS"),
    });
  });

  test("is not there unless it is asked for", async () => {
    const { provider } = await serveForTest({ ...basics, instances: { get: () => absent("LOOKUP_MISS") } });
    expect(provider.httpAddress).toBeUndefined();
  });
});

describe("parseHttpAddress()", () => {
  test.each([
    [":9102", { address: { host: "", port: 9102 } }],
    ["127.0.0.1:0", { address: { host: "127.0.0.1", port: 0 } }],
    ["[::1]:9102", { address: { host: "::1", port: 9102 } }],
    ["", {}],
    [undefined, {}],
  ])("reads %j", (text, parsed) => {
    expect(parseHttpAddress(text)).toEqual(parsed);
  });

  test.each(["9102", "host:", "host:70000", "http://host:9102", "::1:9102", "host :1"])("refuses %j", (text) => {
    expect(parseHttpAddress(text)).toEqual({
      problem: `CLOUD_PROVIDER_HTTP_ADDRESS is ${JSON.stringify(text)}; use host:port, for example :9102`,
    });
  });
});
