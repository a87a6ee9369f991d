import { type ClientHttp2Stream, connect } from "node:http2";
import { createConnection } from "node:net";
import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import { WatchInstancesRequest, type WatchInstancesResponse } from "@cloudwire/proto/cloudprovider/v1/instance";
import { type ClientReadableStream, status as grpc } from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test } from "vitest";
import type { CallContext } from "../../definition/call-context.ts";
import type { InstanceEvent } from "../../definition/instances.ts";
import type { WatchRequest } from "../../definition/requests.ts";
import { absent } from "../../results/results.ts";
import { ProviderError } from "../../results/errors.ts";
import { invoke, openStream, streamEnd } from "../../../test/support/invoke.ts";
import { basics, context, eventually, serveForTest } from "../../../test/support/serve-for-test.ts";

const { methods } = CloudProviderDefinition;

const watching = (watch: (request: WatchRequest, context: CallContext) => AsyncIterable<InstanceEvent>) => ({
  ...basics,
  instances: { get: () => absent("LOOKUP_MISS"), watch },
});

/** Waits until the signal is aborted, as a vendor's feed does. */
const quiet = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

const collect = (stream: ClientReadableStream<WatchInstancesResponse>): WatchInstancesResponse[] => {
  const events: WatchInstancesResponse[] = [];
  stream.on("data", (event: WatchInstancesResponse) => events.push(event));
  return events;
};

describe("a watch", () => {
  test("carries the provider's events in order, with the newest token", async () => {
    const { client } = await serveForTest(
      watching(async function* (_request, { signal }) {
        yield { kind: "upsert", instance: { id: "i-1", name: "n1" }, token: "t1" };
        yield { kind: "bookmark", initialEventsEnd: true };
        yield { kind: "gone", id: "i-1", absence: absent("TERMINATED"), token: "t2" };
        yield { kind: "resync", message: "the feed had a gap" };
        await quiet(signal);
      }),
    );
    const stream = openStream(client, methods.watchInstances, { context, sendInitialEvents: true });
    const events = collect(stream);
    const ended = streamEnd(stream);
    await eventually(() => events.length === 4);
    stream.cancel();
    await ended;
    expect(events.map(({ event, resumeToken }) => [event?.$case, resumeToken])).toEqual([
      ["upsert", "t1"],
      ["bookmark", "t1"],
      ["gone", "t2"],
      ["resync", "t2"],
    ]);
  });

  test("ends the provider's feed when the caller cancels", async () => {
    const ended = Promise.withResolvers<string>();
    const { client } = await serveForTest(
      watching(async function* (_request, { signal }) {
        try {
          yield { kind: "bookmark" };
          await quiet(signal);
        } finally {
          ended.resolve("ended");
        }
      }),
    );
    const stream = openStream(client, methods.watchInstances, { context });
    stream.on("error", () => undefined);
    stream.once("data", () => stream.cancel());
    expect(await ended.promise).toBe("ended");
  });

  test("ends with UNAVAILABLE and never with OK when the feed ends", async () => {
    const { client } = await serveForTest(
      // oxlint-disable-next-line require-yield -- a feed that ends at once
      watching(async function* () {
        await Promise.resolve();
      }),
    );
    const stream = openStream(client, methods.watchInstances, { context });
    stream.resume();
    expect(await streamEnd(stream)).toMatchObject({ code: grpc.UNAVAILABLE, reason: "CLOUD_UNAVAILABLE" });
  });

  test("passes on what the provider throws", async () => {
    const { client } = await serveForTest(
      // oxlint-disable-next-line require-yield -- a feed that fails at once
      watching(async function* ({ resumeToken }) {
        await Promise.resolve();
        throw new ProviderError("RESUME_TOKEN_EXPIRED", `${resumeToken} is too old`);
      }),
    );
    const stream = openStream(
      client,
      methods.watchInstances,
      { context, resumeToken: "t9" },
      {
        metadata: { "x-request-id": "watch-1" },
      },
    );
    stream.resume();
    const end = await streamEnd(stream);
    expect(end).toMatchObject({ code: grpc.OUT_OF_RANGE, reason: "RESUME_TOKEN_EXPIRED", message: "t9 is too old" });
    expect(end !== "ok" && end.trailers.get("x-request-id")).toEqual(["watch-1"]);
  });

  test("refuses a token together with initial events", async () => {
    const { client } = await serveForTest(
      watching(async function* (_request, { signal }) {
        yield { kind: "bookmark" };
        await quiet(signal);
      }),
    );
    const stream = openStream(client, methods.watchInstances, { context, resumeToken: "t", sendInitialEvents: true });
    stream.resume();
    expect(await streamEnd(stream)).toMatchObject({ reason: "FIELD_INVALID", fields: ["send_initial_events"] });
  });

  test("reads the feed no faster than the peer reads the stream", async () => {
    let yielded = 0;
    const { socketPath } = await serveForTest(
      watching(async function* () {
        while (true) {
          yielded += 1;
          yield { kind: "upsert", instance: { id: "i-1", name: "n".repeat(200), stateReason: "r".repeat(200) } };
        }
      }),
    );
    // By hand: grpc-js' own client reads on when its stream is paused.
    const request = openRawStream(socketPath, "WatchInstances", WatchInstancesRequest.encode(watchRequest).finish());
    let before = -1;
    await eventually(async () => {
      const still = yielded === before && yielded > 0;
      before = yielded;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return still;
    }, 10_000);
    // About 430 bytes each against windows of 64 KiB on both sides and a stream buffer of 16 events.
    expect(yielded).toBeLessThan(1_000);
    request.resume();
    await eventually(() => yielded > before + 1_000);
  });
});

const watchRequest = WatchInstancesRequest.fromPartial({ context });

/** A gRPC call over plain HTTP/2 that reads only on request. */
const openRawStream = (socketPath: string, method: string, message: Uint8Array): ClientHttp2Stream => {
  const session = connect("http://localhost", { createConnection: () => createConnection(socketPath) });
  onTestFinished(() => session.destroy());
  const request = session.request({
    ":method": "POST",
    ":path": `/cloudprovider.v1.CloudProvider/${method}`,
    "content-type": "application/grpc",
    te: "trailers",
  });
  request.on("error", () => undefined);
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  request.end(Buffer.concat([header, message]));
  return request;
};

describe("close()", () => {
  test("ends an open watch with PROVIDER_DRAINING and finishes at once", async () => {
    const { client, provider } = await serveForTest(
      watching(async function* (_request, { signal }) {
        yield { kind: "bookmark" };
        await quiet(signal);
      }),
      { drainMs: 10_000 },
    );
    const stream = openStream(client, methods.watchInstances, { context });
    await new Promise((resolve) => {
      stream.once("data", resolve);
    });
    stream.resume();
    const end = streamEnd(stream);
    const begunMs = Date.now();
    await provider.close();
    expect(await end).toMatchObject({ code: grpc.UNAVAILABLE, reason: "PROVIDER_DRAINING" });
    expect(Date.now() - begunMs).toBeLessThan(2_000);
  });

  test("lets a call under way finish and refuses a new one", async () => {
    const release = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const { client, connect, provider } = await serveForTest(
      {
        ...basics,
        instances: {
          get: async ({ name }) => {
            begun.resolve();
            await release.promise;
            return { id: "i-1", name };
          },
        },
      },
      { drainMs: 10_000 },
    );
    const other = connect();
    await invoke(other, methods.getProviderStatus, {});
    const underWay = invoke(client, methods.batchGetInstances, { context, nodes: [{ name: "n1" }] });
    await begun.promise;
    const closed = provider.close();
    expect(await invoke(other, methods.getProviderStatus, {})).toMatchObject({ code: grpc.UNAVAILABLE });
    release.resolve();
    expect(await underWay).toMatchObject({ kind: "ok" });
    await closed;
  });

  test("aborts a handler that does not end, and reports it to the caller even if the handler ignores that", async () => {
    const aborted = Promise.withResolvers<string>();
    const begun = Promise.withResolvers<void>();
    const { client, provider } = await serveForTest(
      {
        ...basics,
        instances: {
          getMany: (_nodes, { signal }) => {
            begun.resolve();
            signal.addEventListener("abort", () => aborted.resolve("aborted"), { once: true });
            return new Promise(() => undefined);
          },
        },
      },
      { drainMs: 100 },
    );
    const outcome = invoke(client, methods.batchGetInstances, { context, nodes: [{ name: "n1" }] });
    await begun.promise;
    await provider.close();
    expect(await aborted.promise).toBe("aborted");
    expect(await outcome).toMatchObject({ code: grpc.UNAVAILABLE, reason: "PROVIDER_DRAINING" });
  });
});
