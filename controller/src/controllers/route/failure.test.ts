import { describe, expect, test } from "vitest";
import { contractError, ProviderError } from "../../provider/errors.ts";
import { retryAfterMsOf } from "../../util/errors.ts";
import { failureOf, fixedWaitMs, isNews, type RangeFailure, waitsForRoom } from "./failure.ts";

function failure(error: ProviderError | undefined, isTargetGone = false): RangeFailure {
  return { cidr: "10.120.1.0/24", nameHint: "hint", message: error?.message ?? "refused", error, isTargetGone };
}

const lost = new ProviderError({ code: "UNAVAILABLE", message: "not connected" });
const throttled = contractError("RATE_LIMITED", "slowly", { retryAfterMs: 7000 });

describe("what follows from a failure", () => {
  test.each<{ what: string; of: RangeFailure; waitMs: number | undefined; room: boolean; news: readonly boolean[] }>([
    { what: "a refusal of our own", of: failure(undefined), waitMs: 300_000, room: true, news: [true, true] },
    {
      what: "a conflict",
      of: failure(contractError("CIDR_CONFLICT", "x")),
      waitMs: 300_000,
      room: true,
      news: [true, true],
    },
    {
      what: "a full table",
      of: failure(contractError("QUOTA_EXCEEDED", "x")),
      waitMs: 300_000,
      room: true,
      news: [true, true],
    },
    {
      what: "a missing right",
      of: failure(contractError("CLOUD_PERMISSION_DENIED", "x")),
      waitMs: 60_000,
      room: false,
      news: [true, true],
    },
    {
      what: "a field",
      of: failure(contractError("FIELD_INVALID", "x")),
      waitMs: 1_800_000,
      room: false,
      news: [true, true],
    },
    {
      what: "a cloud that is away",
      of: failure(contractError("CLOUD_UNAVAILABLE", "x")),
      waitMs: undefined,
      room: false,
      news: [true, true],
    },
    { what: "a throttled cloud", of: failure(throttled), waitMs: 7000, room: false, news: [false, false] },
    { what: "a lost connection", of: failure(lost), waitMs: undefined, room: false, news: [false, true] },
    {
      what: "a machine that is gone",
      of: failure(contractError("ROUTE_TARGET_NOT_FOUND", "x"), true),
      waitMs: 300_000,
      room: false,
      news: [false, false],
    },
    {
      what: "a target that is there after all",
      of: failure(contractError("ROUTE_TARGET_NOT_FOUND", "x")),
      waitMs: undefined,
      room: false,
      news: [true, true],
    },
  ])("$what waits $waitMs ms", ({ of, waitMs, room, news }) => {
    expect({ waitMs: fixedWaitMs(of), room: waitsForRoom(of), news: [isNews(of, 0), isNews(of, 1)] }).toEqual({
      waitMs,
      room,
      news,
    });
  });

  test.each([
    { when: "all have one", failures: [failure(undefined), failure(throttled)], waitMs: 7000 },
    { when: "one wants back-off", failures: [failure(undefined), failure(lost)], waitMs: undefined },
  ])("failureOf() asks for the soonest wait when $when", ({ failures, waitMs }) => {
    const error = failureOf("a", failures);
    expect(retryAfterMsOf(error)).toBe(waitMs);
    expect(error.message).toMatch(/^route node a: 10\.120\.1\.0\/24: refused; /);
  });
});
