import { describe, expect, onTestFinished, test } from "vitest";
import { createTestClock } from "../test-clock.ts";
import type { Fault } from "./fault.ts";
import { FakeCloudError } from "./routes.ts";
import { type FakeCloudOptions, startFakeCloud } from "./start-fake-cloud.ts";

const setUp = async (options?: FakeCloudOptions) => {
  const cloud = await startFakeCloud(options);
  onTestFinished(() => cloud.close());
  const table = cloud.table<unknown>();
  cloud.serve({
    "PUT /lbs/:name": ({ params, body }) => ({ status: 201, body: table.put(params["name"] ?? "", body) }),
    "GET /lbs": ({ query }) => ({ body: { of: query["of"], items: table.page().items } }),
    "DELETE /lbs/:name": ({ params }) => (table.delete(params["name"] ?? "") ? {} : { status: 404 }),
    "GET /refused": () => {
      throw new FakeCloudError(409, { error: "in use" });
    },
    "GET /broken": () => {
      throw new TypeError("a slip in the test");
    },
  });
  const send = async (method: string, path: string, body?: unknown) => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await fetch(cloud.url + path, init);
    const text = await response.text();
    return { status: response.status, body: text === "" ? undefined : JSON.parse(text), headers: response.headers };
  };
  return { cloud, table, send };
};

describe("startFakeCloud()", () => {
  test("serves routes with parameters, queries and bodies, and remembers what it was sent", async () => {
    const { cloud, send } = await setUp();
    expect(await send("PUT", "/lbs/web%2F1", { port: 80 })).toMatchObject({ status: 201, body: { port: 80 } });
    expect(await send("GET", "/lbs?of=c1")).toMatchObject({ status: 200, body: { of: "c1", items: [{ port: 80 }] } });
    expect(await send("DELETE", "/lbs/web%2F1")).toMatchObject({ status: 204, body: undefined });
    expect(cloud.requests).toMatchObject([
      { method: "PUT", path: "/lbs/web%2F1", body: { port: 80 } },
      { method: "GET", path: "/lbs", query: { of: "c1" }, body: undefined },
      { method: "DELETE", path: "/lbs/web%2F1" },
    ]);
  });

  test.each([
    ["what a handler refuses", "/refused", 409, "in use"],
    ["a handler that breaks", "/broken", 500, "the fake cloud's handler failed: TypeError: a slip in the test"],
    ["what has no route, never as 404", "/elsewhere", 501, "the fake cloud has no route for GET /elsewhere"],
  ])("answers %s", async (_title, path, status, error) => {
    const { send } = await setUp();
    expect(await send("GET", path)).toMatchObject({ status, body: { error } });
  });

  test("lets a later route go before an earlier one", async () => {
    const { cloud, send } = await setUp();
    cloud.serve({ "GET /lbs": () => ({ body: "mine" }) });
    expect((await send("GET", "/lbs")).body).toBe("mine");
  });

  test("answers an injected status to what is in its scope, so many times, and does nothing else", async () => {
    const { cloud, table, send } = await setUp();
    const fault = cloud.inject(
      { kind: "status", status: 429, retryAfterSeconds: 3 },
      { method: "put", path: /^\/lbs\//, times: 2 },
    );
    const statuses = [];
    for (const name of ["a", "b", "c"]) statuses.push((await send("PUT", `/lbs/${name}`, {})).status);
    expect([statuses, [...table.contents().keys()], fault.hitCount(), (await send("GET", "/lbs")).status]).toEqual([
      [429, 429, 201],
      ["c"],
      2,
      200,
    ]);
  });

  test("says with an injected status how long to wait", async () => {
    const { cloud, send } = await setUp();
    cloud.inject({ kind: "status", status: 503, retryAfterSeconds: 7, body: { code: "Busy" } });
    const { status, body, headers } = await send("GET", "/lbs");
    expect([status, body, headers.get("retry-after")]).toEqual([503, { code: "Busy" }, "7"]);
  });

  test.each<Fault>([
    { kind: "status", status: 500, applied: true },
    { kind: "reset", applied: true },
    { kind: "cutShort" },
  ])("does what it was asked when only the answer is lost: $kind", async (fault) => {
    const { cloud, table, send } = await setUp();
    cloud.inject(fault, { times: 1 });
    const outcome = await send("PUT", "/lbs/a", { port: 80 }).then(
      ({ status }) => status,
      () => "no answer",
    );
    expect([outcome, [...table.contents().keys()]]).toEqual([fault.kind === "status" ? 500 : "no answer", ["a"]]);
  });

  test("cuts the connection without doing anything", async () => {
    const { cloud, table, send } = await setUp();
    cloud.inject({ kind: "reset" });
    await expect(send("PUT", "/lbs/a", {})).rejects.toMatchObject({ cause: { code: "ECONNRESET" } });
    expect(table.contents().size).toBe(0);
  });

  test("hangs until the fault is lifted", async () => {
    const { cloud, send } = await setUp();
    const fault = cloud.inject({ kind: "hang" });
    const outcome = send("GET", "/lbs").then(
      ({ status }) => status,
      () => "cut",
    );
    await expect.poll(() => fault.hitCount()).toBe(1);
    fault.remove();
    expect([await outcome, (await send("GET", "/lbs")).status]).toEqual(["cut", 200]);
  });

  test("hangs no longer than it lives", async () => {
    const { cloud, send } = await setUp();
    const fault = cloud.inject({ kind: "hang" });
    const outcome = send("GET", "/lbs").then(
      ({ status }) => status,
      () => "cut",
    );
    await expect.poll(() => fault.hitCount()).toBe(1);
    await cloud.close();
    expect(await outcome).toBe("cut");
  });

  test("answers late by its clock", async () => {
    const clock = createTestClock();
    const { cloud, send } = await setUp({ clock });
    cloud.inject({ kind: "latency", ms: 5_000 });
    const startMs = clock.nowMs();
    expect((await clock.runUntil(send("GET", "/lbs"))).status).toBe(200);
    expect(clock.nowMs() - startMs).toBeGreaterThanOrEqual(5_000);
  });

  test("answers 429 to what comes faster than its rate, and fills up by its clock", async () => {
    const clock = createTestClock();
    const { cloud, send } = await setUp({ clock });
    cloud.inject({ kind: "rateLimit", perSecond: 0.5, burst: 2 });
    const ask = async () => {
      const { status, headers } = await send("GET", "/lbs");
      return [status, headers.get("retry-after")];
    };
    expect([await ask(), await ask(), await ask()]).toEqual([
      [200, null],
      [200, null],
      [429, "2"],
    ]);
    await clock.advance(2_000);
    expect([await ask(), await ask()]).toEqual([
      [200, null],
      [429, "2"],
    ]);
  });

  test("meets a part of the requests by chance, the same ones in each run", async () => {
    const runs = await Promise.all(
      [0, 1].map(async () => {
        const { cloud, send } = await setUp();
        cloud.inject({ kind: "status", status: 500 }, { rate: 0.5 });
        const statuses = [];
        for (let index = 0; index < 20; index++) statuses.push((await send("GET", "/lbs")).status);
        return statuses;
      }),
    );
    expect(runs[0]).toEqual(runs[1]);
    expect(new Set(runs[0])).toEqual(new Set([200, 500]));
  });
});
