import { type ErrorReason, errorReasons } from "@cloudwire/proto/reasons";
import { describe, expect, test } from "vitest";
import {
  ProviderError,
  asProviderError,
  codeName,
  contractError,
  hasReason,
  isOfClass,
  isProviderError,
  retryDelayMs,
} from "./errors.ts";

function isReason(name: string): name is ErrorReason {
  return name in errorReasons;
}

describe("ProviderError.class", () => {
  test.each(Object.entries(errorReasons))("is the table's for contract reason %s", (reason, rule) => {
    const error = new ProviderError({ code: codeName(rule.code), reason, domain: "cloudprovider.v1", message: "m" });
    expect(error.class).toBe(rule.class);
  });

  test.each([
    [
      "a reason newer than this program goes by its code",
      "UNAVAILABLE",
      "cloudprovider.v1",
      "NOT_INVENTED",
      "TRANSIENT",
    ],
    ["a vendor's reason goes by its code", "INVALID_ARGUMENT", "acme.example.com", "BAD_SIZE", "FINAL"],
    ["a vendor cannot borrow the contract's reasons", "UNAVAILABLE", "acme.example.com", "QUOTA_EXCEEDED", "TRANSIENT"],
    ["a bare status is unknown", "NOT_FOUND", "", "", "OUTCOME_UNKNOWN"],
    ["a bare deadline is unknown", "DEADLINE_EXCEEDED", "", "", "OUTCOME_UNKNOWN"],
    ["a bare UNAVAILABLE is transient", "UNAVAILABLE", "", "", "TRANSIENT"],
    ["a bare UNIMPLEMENTED is final", "UNIMPLEMENTED", "", "", "FINAL"],
  ] as const)("%s", (_, code, domain, reason, expected) => {
    expect(new ProviderError({ code, domain, reason, message: "m" }).class).toBe(expected);
  });
});

describe("predicates", () => {
  const throttled = contractError("RATE_LIMITED", "slow down", { retryAfterMs: 1000 });

  test("hasReason() compares reason and domain", () => {
    expect(hasReason(throttled, "RATE_LIMITED")).toBe(true);
    const vendors = new ProviderError({
      code: "RESOURCE_EXHAUSTED",
      reason: "RATE_LIMITED",
      domain: "acme",
      message: "m",
    });
    expect(hasReason(vendors, "RATE_LIMITED")).toBe(false);
  });

  test("isOfClass() and isProviderError() refuse foreign errors", () => {
    expect(isOfClass(throttled, "WAIT")).toBe(true);
    expect(isOfClass(new Error("x"), "WAIT")).toBe(false);
    expect(isProviderError(throttled, "RESOURCE_EXHAUSTED")).toBe(true);
    expect(isProviderError(throttled, "INTERNAL")).toBe(false);
  });

  test("asProviderError() keeps a ProviderError and wraps the rest as unknown", () => {
    expect(asProviderError(throttled)).toBe(throttled);
    const cause = new Error("boom");
    expect(asProviderError(cause)).toMatchObject({ code: "UNKNOWN", class: "OUTCOME_UNKNOWN", message: "boom", cause });
  });

  test.each([[0], [17], [-1], [2]])("codeName(%i) is UNKNOWN", (code) => {
    expect(codeName(code)).toBe("UNKNOWN");
  });
});

describe("retry delay", () => {
  const MINUTE_MS = 60_000;

  test.each<[string, ErrorReason, readonly (number | undefined)[]]>([
    ["U grows from 1 s", "INVARIANT_BROKEN", [1000, 2000, 4000]],
    ["T is the queue's own back-off", "CLOUD_UNAVAILABLE", [undefined, undefined]],
    ["W without the wait it must name is a few seconds", "RATE_LIMITED", [5000, 5000]],
    ["F is half an hour, for what a change does not wake", "PROVIDER_ID_MALFORMED", [30 * MINUTE_MS, 30 * MINUTE_MS]],
    ["O is slow", "CLOUD_CREDENTIALS_INVALID", [MINUTE_MS, 2 * MINUTE_MS, 4 * MINUTE_MS, 5 * MINUTE_MS, 5 * MINUTE_MS]],
    ["O of a quota is slower", "QUOTA_EXCEEDED", [1, 2, 4, 8, 15, 15].map((minutes) => minutes * MINUTE_MS)],
    ["R is at once one time, then like U", "LOAD_BALANCER_NOT_FOUND", [0, 2000, 4000]],
  ])("retryDelayMs(): %s", (_, reason, expected) => {
    const delays = expected.map((__, index) => retryDelayMs(contractError(reason, "m"), index + 1));
    expect(delays).toEqual(expected);
  });

  test("retryDelayMs() of U is never more than 5 min", () => {
    expect(retryDelayMs(new ProviderError({ code: "INTERNAL", message: "m" }), 50)).toBe(5 * MINUTE_MS);
  });

  test.each<[ErrorReason, number]>([
    ["RATE_LIMITED", 7000],
    ["INVARIANT_BROKEN", 7000],
    ["CLOUD_CREDENTIALS_INVALID", MINUTE_MS],
  ])("retryDelayMs() of %s is at least what the provider named", (reason, expected) => {
    expect(retryDelayMs(contractError(reason, "m", { retryAfterMs: 7000 }), 1)).toBe(expected);
  });

  test("retryDelayMs() leaves an error without a delay of its own to the queue, which adds the provider's", () => {
    expect(retryDelayMs(contractError("CLOUD_UNAVAILABLE", "m", { retryAfterMs: 7000 }), 1)).toBeUndefined();
  });

  const reasons = Object.keys(errorReasons).filter((name) => isReason(name));
  test.each(reasons)("retryDelayMs() of %s is never shortened by the provider's delay (case A-3)", (reason) => {
    for (let failures = 1; failures <= 12; failures++) {
      const ours = retryDelayMs(contractError(reason, "m", { retryAfterMs: 0 }), failures);
      for (const retryAfterMs of [0, 1, 500, 5000, 1_800_000]) {
        const delayMs = retryDelayMs(contractError(reason, "m", { retryAfterMs }), failures);
        expect(delayMs).toBe(ours === undefined ? undefined : Math.max(ours, retryAfterMs));
      }
    }
  });

  test("retryDelayMs() of throttling grows although the provider names no delay (case A-3)", () => {
    const delays = [1, 2, 3, 20].map((n) => retryDelayMs(contractError("RATE_LIMITED", "m", { retryAfterMs: 0 }), n));
    expect(delays).toEqual([1000, 2000, 4000, 5 * MINUTE_MS]);
  });
});
