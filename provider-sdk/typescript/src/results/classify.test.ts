import { describe, expect, test } from "vitest";
import { classifyError } from "./classify.ts";
import { ProviderError } from "./errors.ts";

const read = { mutation: false, correlationId: "corr-1" };
const change = { mutation: true, correlationId: "corr-1" };

const fail = (properties: Readonly<Record<string, unknown>>) => Object.assign(new Error("secret detail"), properties);

describe("classifyError()", () => {
  test.each([
    ["status 401", fail({ status: 401 }), "CLOUD_CREDENTIALS_INVALID"],
    ["status 403", fail({ statusCode: 403 }), "CLOUD_PERMISSION_DENIED"],
    ["status 408", fail({ status: 408 }), "CLOUD_TIMEOUT"],
    ["status 429 of an AWS client", fail({ $metadata: { httpStatusCode: 429 } }), "RATE_LIMITED"],
    ["status 503 in a response", fail({ response: { status: 503 } }), "CLOUD_UNAVAILABLE"],
    ["status 504", fail({ status: 504 }), "CLOUD_TIMEOUT"],
    ["an abort", new DOMException("gone", "AbortError"), "CLOUD_TIMEOUT"],
    ["a timeout", new DOMException("late", "TimeoutError"), "CLOUD_TIMEOUT"],
    ["a refused connection", fail({ code: "ECONNREFUSED" }), "CLOUD_UNAVAILABLE"],
    ["a name that does not resolve", fail({ code: "ENOTFOUND" }), "CLOUD_UNAVAILABLE"],
    ["a socket timeout", fail({ code: "ETIMEDOUT" }), "CLOUD_TIMEOUT"],
    ["what fetch throws", new TypeError("fetch failed", { cause: fail({ code: "ECONNRESET" }) }), "CLOUD_UNAVAILABLE"],
    [
      "a ProviderError in a cause",
      new Error("wrapped", { cause: new ProviderError("NOT_READY", "wait") }),
      "NOT_READY",
    ],
  ])("makes %s of a read the reason that says it", (_title, thrown, reason) => {
    expect(classifyError(thrown, read)).toMatchObject({ masked: false, error: { reason } });
  });

  test.each([
    ["an error of its own kind", fail({})],
    ["status 409 of a read", fail({ status: 409 })],
    ["a programming error", new TypeError("x is not a function")],
    ["a string", "secret detail"],
    ["nothing", undefined],
    ["a system error that is not the network's", fail({ code: "EACCES" })],
  ])("masks %s, with the correlation id and without its text", (_title, thrown) => {
    const { error, masked } = classifyError(thrown, read);
    expect([masked, error.reason, error.grpcCode]).toEqual([true, "UNMAPPED_ERROR", 2]);
    expect(error.message).toContain("corr-1");
    expect(error.message).not.toContain("secret");
    expect(error.cause).toBe(thrown);
  });

  test("masks status 404, which does not prove absence, and logs what to return instead", () => {
    const thrown = fail({ status: 404 });
    const { error, masked } = classifyError(thrown, read);
    expect([masked, error.reason]).toEqual([true, "UNMAPPED_ERROR"]);
    expect(error.message).not.toContain("absent()");
    expect(error.cause).toMatchObject({ message: expect.stringContaining("answer absent()"), cause: thrown });
  });

  test("leaves the outcome of a change open when it timed out", () => {
    expect(classifyError(new DOMException("late", "TimeoutError"), change).error.reason).toBe("DEADLINE_PASSED");
  });

  test("takes the wait that the cloud requests, at most 15 minutes", () => {
    const wait = (header: string) =>
      classifyError(fail({ status: 429, headers: new Headers({ "retry-after": header }) }), read).error.retryAfterMs;
    const future = new Date(Date.now() + 86_400_000).toUTCString();
    const past = new Date(0).toUTCString();
    expect([wait("7"), wait("86400"), wait("soon"), wait(future), wait(past), wait("0")]).toEqual([
      7_000, 900_000, 5_000, 900_000, 5_000, 5_000,
    ]);
  });

  test("ends on a cause that is its own", () => {
    const loop = new Error("loop");
    loop.cause = loop;
    expect(classifyError(loop, read).masked).toBe(true);
  });
});
