import { errorReasons } from "@cloudwire/proto/reasons";
import { describe, expect, test } from "vitest";
import {
  asProviderError,
  codeName,
  contractError,
  hasReason,
  isOfClass,
  isProviderError,
  ProviderError,
} from "./errors.ts";

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
