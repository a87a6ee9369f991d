import { CloudProviderDefinition } from "@cloudwire/proto/cloudprovider/v1/cloud_provider";
import type { Client } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import type { CallContext } from "../../definition/call-context.ts";
import type { Instance } from "../../definition/instances.ts";
import { absent, type ResumeFrom, resumeFrom, type Unreachable, unreachable } from "../../results/results.ts";
import { ProviderError } from "../../results/errors.ts";
import { invoke, invokeOk } from "../../../test/support/invoke.ts";
import { basics, context, serveForTest } from "../../../test/support/serve-for-test.ts";

const { methods } = CloudProviderDefinition;

const machine = (index: number): Instance => ({ id: `i-${index}`, name: `n${index}` });

const listing = (list: (context: CallContext) => AsyncIterable<Instance | Unreachable | ResumeFrom>) =>
  serveForTest({ ...basics, instances: { get: () => absent("LOOKUP_MISS"), list } });

/** Walks a list and answers its pages. */
const walk = async (client: Client, pageSize: number) => {
  const pages = [];
  let pageToken = "";
  do {
    const page = await invokeOk(client, methods.listInstances, { context, pageSize, pageToken });
    pages.push(page);
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return pages;
};

describe("ListInstances", () => {
  test("walks an async iterable in pages, reads no further than asked, and is complete at the end", async () => {
    let yielded = 0;
    const { client } = await listing(async function* () {
      for (let index = 0; index < 25; index++) {
        yielded += 1;
        yield machine(index);
      }
      yield resumeFrom("feed-7");
    });
    const first = await invokeOk(client, methods.listInstances, { context, pageSize: 10 });
    expect([first.instances.length, first.complete, first.resumeToken, yielded]).toEqual([10, false, "", 11]);
    const pages = await walk(client, 10);
    expect(pages.map(({ instances }) => instances.length)).toEqual([10, 10, 5]);
    expect(pages.map(({ complete }) => complete)).toEqual([false, false, true]);
    expect(pages.at(-1)).toMatchObject({ resumeToken: "feed-7", scopeId: "acct-1", unreachable: [] });
    const ids = pages.flatMap(({ instances }) => instances.map(({ providerId }) => providerId));
    expect(ids).toEqual(Array.from({ length: 25 }, (_, index) => `acme://i-${index}`));
  });

  test("has no empty last page when the items fill the pages exactly", async () => {
    const { client } = await listing(async function* () {
      for (let index = 0; index < 20; index++) yield machine(index);
    });
    expect((await walk(client, 10)).map(({ instances }) => instances.length)).toEqual([10, 10]);
  });

  test.each([
    ["was refused", { status: 403 }, ["what a request that met CLOUD_PERMISSION_DENIED would have shown"]],
    ["was throttled", { status: 429 }, ["what a request that met RATE_LIMITED would have shown"]],
    ["met an outage", { status: 502 }, ["what a request that met CLOUD_UNAVAILABLE would have shown"]],
    ["found nothing", { status: 404 }, []],
  ])("is complete only if no request %s, though the provider went on", async (_title, cloudCall, places) => {
    const { client } = await listing(async function* ({ recordCloudCall }) {
      yield machine(1);
      recordCloudCall(cloudCall);
      yield machine(2);
    });
    const pages = await walk(client, 10);
    expect(pages).toMatchObject([{ complete: places.length === 0, unreachable: places }]);
    expect(pages[0]?.instances.length).toBe(2);
  });

  test("answers an empty scope with one complete, empty page", async () => {
    const { client } = await listing(async function* () {});
    expect(await walk(client, 10)).toMatchObject([{ instances: [], complete: true, nextPageToken: "" }]);
  });

  test("keeps pages under 1 MiB", async () => {
    const { client } = await listing(async function* () {
      for (let index = 0; index < 400; index++) yield { ...machine(index), labels: { big: "v".repeat(8_000) } };
    });
    const pages = await walk(client, 500);
    const bytes = pages.map((page) => methods.listInstances.responseType.encode(page).finish().length);
    expect(Math.max(...bytes)).toBeLessThanOrEqual(1_048_576);
    expect(pages.flatMap(({ instances }) => instances)).toHaveLength(400);
  });

  test("cuts a page size above the maximum and takes 0 as its own choice", async () => {
    const { client } = await listing(async function* () {
      for (let index = 0; index < 600; index++) yield machine(index);
    });
    for (const pageSize of [0, 5_000])
      expect((await invokeOk(client, methods.listInstances, { context, pageSize })).instances).toHaveLength(500);
  });

  test("is not complete when a place could not be read, and names it", async () => {
    const { client } = await listing(async function* () {
      yield machine(1);
      yield unreachable("zone-b");
      yield machine(2);
    });
    expect(await walk(client, 10)).toMatchObject([{ complete: false, unreachable: ["zone-b"], instances: [{}, {}] }]);
  });

  test("is not complete without an object that breaks the contract, which it leaves out and logs", async () => {
    const { client, logged } = await listing(async function* () {
      yield machine(1);
      yield { id: "i-2", name: "" };
    });
    const [page] = await walk(client, 10);
    expect(page).toMatchObject({ complete: false, instances: [{ name: "n1" }] });
    expect(logged.join("")).toContain("name is required");
  });

  test("answers the same page to the same token", async () => {
    const { client } = await listing(async function* () {
      for (let index = 0; index < 25; index++) yield machine(index);
    });
    const first = await invokeOk(client, methods.listInstances, { context, pageSize: 10 });
    const ask = () =>
      invokeOk(client, methods.listInstances, { context, pageSize: 10, pageToken: first.nextPageToken });
    expect((await ask()).instances).toEqual((await ask()).instances);
  });

  test("refuses a negative page size, an invented token and the token of another request", async () => {
    const { client } = await listing(async function* () {
      for (let index = 0; index < 25; index++) yield machine(index);
    });
    const { nextPageToken } = await invokeOk(client, methods.listInstances, { context, pageSize: 10 });
    const other = { ...context, cluster: { id: "cluster-2" } };
    const outcomes = [
      await invoke(client, methods.listInstances, { context, pageSize: -1 }),
      await invoke(client, methods.listInstances, { context, pageToken: "invented" }),
      await invoke(client, methods.listInstances, { context: other, pageToken: nextPageToken }),
    ];
    expect(outcomes.map((outcome) => outcome.kind === "error" && [outcome.reason, ...outcome.fields])).toEqual([
      ["PAGE_SIZE_INVALID", "page_size"],
      ["PAGE_TOKEN_INVALID", "page_token"],
      ["PAGE_TOKEN_INVALID", "page_token"],
    ]);
  });

  test("returns the provider's error and then starts again", async () => {
    let runs = 0;
    const { client } = await listing(async function* () {
      runs += 1;
      yield machine(1);
      if (runs === 1) throw new ProviderError("RATE_LIMITED", "too fast", { retryAfterMs: 700 });
    });
    const failed = await invoke(client, methods.listInstances, { context });
    expect(failed).toMatchObject({ reason: "RATE_LIMITED", retryAfterMs: 700 });
    expect(await walk(client, 10)).toMatchObject([{ complete: true }]);
  });

  test("goes on where it was when a caller gave up waiting for a page", async () => {
    const slow = Promise.withResolvers<void>();
    let runs = 0;
    const { client } = await listing(async function* () {
      runs += 1;
      yield machine(1);
      yield machine(2);
      await slow.promise;
      yield machine(3);
    });
    const { nextPageToken } = await invokeOk(client, methods.listInstances, { context, pageSize: 1 });
    const ask = (deadlineMs: number) =>
      invoke(client, methods.listInstances, { context, pageSize: 5, pageToken: nextPageToken }, { deadlineMs });
    expect((await ask(50)).kind).toBe("error");
    slow.resolve();
    expect(await ask(10_000)).toMatchObject({
      response: { instances: [{ name: "n2" }, { name: "n3" }], complete: true },
    });
    expect(runs).toBe(1);
  });

  test("counts what each page cost, and lends the call's deadline to the provider", async () => {
    const { client } = await listing(async function* (call) {
      for (let index = 0; index < 4; index++) {
        call.recordCloudCall({ status: 200 });
        yield { ...machine(index), stateReason: call.remainingMs() > 1_000 ? "patient" : "hurried" };
      }
    });
    const pages = await walk(client, 2);
    expect(pages.map(({ stats }) => stats?.cloudCalls)).toEqual([3, 1]);
    expect(pages[0]?.instances[0]?.stateReason).toBe("patient");
  });
});
