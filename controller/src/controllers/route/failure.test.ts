import { describe, expect, test } from "vitest";
import { ProviderError, contractError } from "../../provider/model/errors.ts";
import { retryAfterMsOf } from "../../util/errors.ts";
import { type CidrFailure, failureKind, failureOf, failureText, isReported, waitMs, waitsForRoom } from "./failure.ts";

function failure(error: ProviderError | undefined, isTargetGone = false): CidrFailure {
  const message = error?.message ?? "refused";
  const rejection = error === undefined ? "overlap" : undefined;
  return { cidr: "10.120.1.0/24", nameHint: "hint", rejection, message, error, isTargetGone };
}

const lost = new ProviderError({ code: "UNAVAILABLE", message: "not connected" });
const throttled = contractError("RATE_LIMITED", "slowly", { retryAfterMs: 7000 });

describe("what follows from a failure", () => {
  test.each<{
    what: string;
    of: CidrFailure;
    waits: readonly (number | undefined)[];
    room: boolean;
    news: readonly boolean[];
  }>([
    {
      what: "a rejection of our own",
      of: failure(undefined),
      waits: [300_000, 300_000],
      room: true,
      news: [true, true],
    },
    {
      what: "a conflict",
      of: failure(contractError("CIDR_CONFLICT", "x")),
      waits: [60_000, 120_000],
      room: true,
      news: [true, true],
    },
    {
      what: "a full table",
      of: failure(contractError("QUOTA_EXCEEDED", "x")),
      waits: [60_000, 120_000],
      room: true,
      news: [true, true],
    },
    {
      what: "a missing right",
      of: failure(contractError("CLOUD_PERMISSION_DENIED", "x")),
      waits: [60_000, 120_000],
      room: false,
      news: [true, true],
    },
    {
      what: "a field",
      of: failure(contractError("FIELD_INVALID", "x")),
      waits: [1_800_000, 1_800_000],
      room: false,
      news: [true, true],
    },
    {
      what: "a cloud that is away",
      of: failure(contractError("CLOUD_UNAVAILABLE", "x")),
      waits: [undefined, undefined],
      room: false,
      news: [true, true],
    },
    { what: "a throttled cloud", of: failure(throttled), waits: [7000, 7000], room: false, news: [false, false] },
    { what: "a lost connection", of: failure(lost), waits: [undefined, undefined], room: false, news: [false, true] },
    {
      what: "a machine that is gone",
      of: failure(contractError("ROUTE_TARGET_NOT_FOUND", "x"), true),
      waits: [300_000, 300_000],
      room: false,
      news: [false, false],
    },
    {
      what: "a target that is there after all",
      of: failure(contractError("ROUTE_TARGET_NOT_FOUND", "x")),
      waits: [0, 2000],
      room: false,
      news: [false, true],
    },
  ])("$what waits $waits ms", ({ of, waits, room, news }) => {
    expect({
      waits: [waitMs(of, 1), waitMs(of, 2)],
      room: waitsForRoom(of),
      news: [isReported(of, 1), isReported(of, 2)],
    }).toEqual({
      waits,
      room,
      news,
    });
  });

  test("failureKind() reports failures that are waited out differently apart", () => {
    expect(failureKind([failure(throttled)])).not.toBe(failureKind([failure(lost)]));
    expect(failureKind([failure(lost)])).toBe(failureKind([failure(contractError("CLOUD_UNAVAILABLE", "x"))]));
  });

  test.each([
    { when: "all have one", failures: [failure(undefined), failure(throttled)], wanted: 7000 },
    { when: "one wants back-off", failures: [failure(undefined), failure(lost)], wanted: undefined },
  ])("failureOf() asks for the soonest wait when $when", ({ failures, wanted }) => {
    const error = failureOf("a", failures, 1);
    expect(retryAfterMsOf(error)).toBe(wanted);
    expect(error.message).toMatch(/^route node a: 10\.120\.1\.0\/24: refused; /);
  });
});

describe("remedies", () => {
  const failure = (parts: Partial<CidrFailure>): CidrFailure => {
    const base = { cidr: "10.120.1.0/24", nameHint: "hint", message: "why", isTargetGone: false } as const;
    return { ...base, rejection: undefined, error: undefined, ...parts };
  };

  test.each([
    { of: failure({ rejection: "overlap" }), want: /within 5 minutes\). To fix: delete the Node/ },
    { of: failure({ rejection: "family" }), want: /within 5 minutes\). To fix: assign Nodes pod CIDRs/ },
    {
      of: failure({ error: contractError("QUOTA_EXCEEDED", "x") }),
      want: /1 to 15 .* room\). To fix: raise the limit/,
    },
    {
      of: failure({ error: contractError("CIDR_CONFLICT", "x") }),
      want: /the pod CIDR is free\). To fix: if it is no longer needed, remove/,
    },
    {
      of: failure({ error: contractError("CLOUD_PERMISSION_DENIED", "x") }),
      want: /To fix: correct the provider's cred/,
    },
    {
      of: failure({ error: contractError("FIELD_INVALID", "x") }),
      want: /30 minutes.*\). To fix: correct the value that the message/,
    },
    {
      of: failure({ error: contractError("CLOUD_UNAVAILABLE", "x") }),
      want: /with backoff\). To fix: check that the provider/,
    },
    {
      of: failure({ error: contractError("DEADLINE_PASSED", "x") }),
      want: /\(retrying in 1 second to 5 minutes\)$/,
    },
  ])("failureText() reports when a route is retried and how to fix it: $want", ({ of, want }) => {
    expect(failureText(of)).toMatch(want);
  });
});
