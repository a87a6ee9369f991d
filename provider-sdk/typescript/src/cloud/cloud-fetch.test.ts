import { describe, expect, test } from "vitest";
import type { CloudCall, CloudRequestInit } from "../definition/call-context.ts";
import { createTestClock } from "../testing/test-clock.ts";
import { CloudFetcher } from "./cloud-fetch.ts";

const url = "https://api.acme.example.com/machines";

const refused = () =>
  new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code: "ECONNREFUSED" }) });

/** A cloud that gives these answers, one after the other, and the last one for ever. */
const setUp = (answers: readonly (() => Response | Error)[], remainingMs = 60_000) => {
  const clock = createTestClock(0);
  const asked: number[] = [];
  const tried: CloudCall[] = [];
  const ended: (readonly CloudCall[])[] = [];
  const fetcher = new CloudFetcher({
    clock,
    random: () => 0,
    transport: async () => {
      const answer = answers[Math.min(asked.length, answers.length - 1)]?.() ?? new Error("no answer");
      asked.push(clock.nowMs());
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  const caller = new AbortController();
  const callScope = {
    signal: caller.signal,
    remainingMs: () => remainingMs - clock.nowMs(),
    tried: (call: CloudCall) => tried.push(call),
    ended: (tries: readonly CloudCall[]) => ended.push(tries),
  };
  const ask = (init?: CloudRequestInit, input: string | Request = url) =>
    fetcher.fetch(input, init, callScope).then(
      ({ status }) => status,
      (error: unknown) => (error instanceof Error ? error.message : "no error"),
    );
  return { clock, asked, tried, ended, fetcher, caller, ask };
};

const status =
  (code: number, headers: Record<string, string> = {}) =>
  () =>
    new Response("", { status: code, headers });

describe("CloudFetcher", () => {
  test("retries transient failures with longer waits, and reports each attempt and all of them", async () => {
    const { clock, ask, asked, tried, ended } = setUp([status(503), refused, status(200, { "x-request-id": "req-3" })]);
    const answer = ask();
    await clock.advance(10_000);
    expect(await answer).toBe(200);
    expect(asked).toEqual([0, 200, 600]);
    expect(tried).toMatchObject([
      { status: 503, mutation: false, retry: false },
      { error: { message: "fetch failed" }, mutation: false, retry: true },
      { status: 200, mutation: false, retry: true, requestId: "req-3" },
    ]);
    expect(ended).toEqual([tried]);
  });

  test("answers the last failure after four tries", async () => {
    const { clock, ask, asked } = setUp([status(502)]);
    const answer = ask();
    await clock.advance(10_000);
    expect([await answer, asked]).toEqual([502, [0, 200, 600, 1_400]]);
  });

  test.each([
    ["a GET", {}, 4],
    ["a PUT with text", { method: "PUT", body: "{}" }, 4],
    ["a DELETE", { method: "delete" }, 4],
    ["a POST", { method: "POST", body: "{}" }, 1],
    ["a POST that may be repeated", { method: "POST", body: "{}", retry: true }, 4],
    ["a GET that may not", { retry: false }, 1],
    ["a PUT whose body is a stream", { method: "PUT", body: new Blob(["{}"]).stream(), duplex: "half" as const }, 1],
    ["a PATCH", { method: "PATCH", body: "{}" }, 1],
  ])("tries %s as often as its method allows", async (_title, init, times) => {
    const { clock, ask, asked } = setUp([status(500)]);
    const answer = ask(init);
    await clock.advance(10_000);
    expect([await answer, asked.length]).toEqual([500, times]);
  });

  test.each([
    ["a Request without body", new Request(url), 4],
    ["a Request whose body is spent", new Request(url, { method: "PUT", body: "{}" }), 1],
  ])("tries %s as often as it can be sent", async (_title, request, times) => {
    const { clock, ask, asked } = setUp([status(500)]);
    const answer = ask(undefined, request);
    await clock.advance(10_000);
    expect([await answer, asked.length]).toEqual([500, times]);
  });

  test.each([200, 301, 400, 401, 403, 404, 409, 501])("takes HTTP %i as the answer", async (code) => {
    const { ask, asked } = setUp([status(code)]);
    expect([await ask(), asked.length]).toEqual([code, 1]);
  });

  test("does not repeat a failure that is not the connection's", async () => {
    const { ask, asked } = setUp([() => new TypeError("certificate has expired")]);
    expect([await ask(), asked.length]).toEqual(["certificate has expired", 1]);
  });

  test.each([
    ["seconds", "3", [0, 3_000]],
    ["a date", new Date(7_000).toUTCString(), [0, 7_000]],
    ["nonsense", "soon", [0, 200]],
  ])("waits as long as Retry-After requests in %s", async (_title, header, times) => {
    const { clock, ask, asked } = setUp([status(429, { "retry-after": header }), status(200)]);
    const answer = ask();
    await clock.advance(20_000);
    expect([await answer, asked]).toEqual([200, times]);
  });

  test("answers at once what would have to wait beyond the deadline", async () => {
    const { ask, asked } = setUp([status(429, { "retry-after": "60" })], 30_000);
    expect([await ask(), asked.length]).toEqual([429, 1]);
  });

  test("repeats no more than a tenth of the requests in the long run", async () => {
    const { clock, ask, asked } = setUp([status(503)], 1e9);
    for (let request = 0; request < 100; request++) {
      const answer = ask();
      await clock.advance(2_000);
      expect(await answer).toBe(503);
    }
    // Ten at once after a quiet time, and one for each ten requests.
    expect(asked.length - 100).toBeGreaterThanOrEqual(19);
    expect(asked.length - 100).toBeLessThanOrEqual(20);
  });

  test("ends its wait when the caller gives up, and reports the attempts so far", async () => {
    const { clock, ask, asked, ended, caller } = setUp([status(503)]);
    const answer = ask();
    await clock.advance(100);
    caller.abort(new Error("gone"));
    expect(await answer).toBe("gone");
    expect([asked.length, ended, clock.pendingTimers()]).toEqual([1, [[expect.objectContaining({ status: 503 })]], 0]);
  });

  test("does not repeat a request that its own signal ended", async () => {
    const { ask, asked } = setUp([() => new DOMException("too slow", "TimeoutError")]);
    expect([await ask({ signal: AbortSignal.abort() }), asked.length]).toEqual(["too slow", 1]);
  });

  test.each([
    ["seconds from now", { "ratelimit-limit": "100, 100;w=60", "ratelimit-remaining": "7", "ratelimit-reset": "30" }],
    ["a moment", { "x-ratelimit-limit": "100", "x-ratelimit-remaining": "7", "x-ratelimit-reset": "1800000030" }],
  ])("keeps what headers say of the call budget, the reset in %s", async (_title, headers) => {
    const { clock, ask, fetcher } = setUp([status(200, headers)]);
    await clock.advance(1_800_000_000_000);
    await ask();
    expect(fetcher.rateLimits.current).toEqual([
      { name: "api.acme.example.com", limit: 100, remaining: 7, resetTime: new Date(1_800_000_030_000) },
    ]);
  });

  test("ignores invalid headers", async () => {
    const { ask, fetcher } = setUp([status(200, { "x-ratelimit-limit": "-1", "x-ratelimit-remaining": "many" })]);
    await ask();
    expect(fetcher.rateLimits.current).toEqual([]);
  });
});
