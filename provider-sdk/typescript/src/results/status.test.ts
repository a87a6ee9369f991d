import { ErrorInfo, RetryInfo } from "@cloudwire/proto/google/rpc/error_details";
import { Status } from "@cloudwire/proto/google/rpc/status";
import { errorReasons } from "@cloudwire/proto/reasons";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutToBytes, cutToHeaderBytes, maxDetailsBytes, toItemError, toStatus } from "./status.ts";
import { ProviderError } from "./errors.ts";

const typesOf = (error: ProviderError) =>
  Status.decode(toStatus(error).details).details.map(({ typeUrl }) => typeUrl.split(".").at(-1));

describe("what leaves the process", () => {
  test("carries no secret, in any field of the error", () => {
    const leak = "GET https://acme.example.com/?api_key=hunter2";
    const error = new ProviderError("QUOTA_EXCEEDED", leak, {
      field: "spec.ports",
      metadata: { request: leak },
      quota: { subject: leak, description: leak },
      help: { description: leak, url: leak },
    });
    const { message, details } = toStatus(error);
    expect([message, toItemError(error).message]).toEqual(Array(2).fill("GET https://acme.example.com/?api_key=***"));
    expect(details.toString()).not.toContain("hunter2");
    expect(JSON.stringify(toItemError(error))).not.toContain("hunter2");
  });
});

describe("toStatus()", () => {
  test("carries what the provider said, in the order of its use", () => {
    const error = new ProviderError("QUOTA_EXCEEDED", "load balancer quota reached", {
      retryAfterMs: 1_500,
      field: "spec.ports",
      quota: { subject: "account-42", description: "load balancers" },
      precondition: { type: "LIMIT", subject: "account-42", description: "raise it" },
      resource: { type: "load balancer", name: "lb-1" },
      help: { description: "Quotas", url: "https://example.com/quotas" },
    });
    expect(typesOf(error)).toEqual([
      "ErrorInfo",
      "RetryInfo",
      "BadRequest",
      "QuotaFailure",
      "PreconditionFailure",
      "ResourceInfo",
      "Help",
    ]);
    const [, retry] = Status.decode(toStatus(error).details).details;
    expect(RetryInfo.decode(retry?.value ?? Buffer.alloc(0)).retryDelay).toEqual({ seconds: 1n, nanos: 500_000_000 });
  });

  test.each([0, -5000, Number.NaN])(
    "sends no delay for %d ms, or the contract's default (case A-3)",
    (retryAfterMs) => {
      expect(typesOf(new ProviderError("CLOUD_UNAVAILABLE", "down", { retryAfterMs }))).toEqual(["ErrorInfo"]);
      expect(toItemError(new ProviderError("RATE_LIMITED", "slow", { retryAfterMs })).retryAfter?.seconds).toBe(5n);
    },
  );

  test("names the vendor's domain for a reason of its own", () => {
    const own = { reason: "ACME_FROZEN", code: 9, domain: "acme.example.com" } as const;
    const [info] = Status.decode(toStatus(new ProviderError(own, "frozen")).details).details;
    expect(ErrorInfo.decode(info?.value ?? Buffer.alloc(0))).toMatchObject({
      reason: "ACME_FROZEN",
      domain: "acme.example.com",
    });
  });

  test.each(Object.entries(errorReasons))(
    "sends %s with its code, and a wait where the contract demands one",
    (reason, rule) => {
      const known = Object.keys(errorReasons).find((name): name is keyof typeof errorReasons => name === reason);
      const error = new ProviderError(known ?? "UNMAPPED_ERROR", "text");
      expect(toStatus(error).code).toBe(rule.code);
      expect(typesOf(error)).toEqual("retryInfoRequired" in rule ? ["ErrorInfo", "RetryInfo"] : ["ErrorInfo"]);
    },
  );

  test("stays within the budget whatever is in it, with exactly one ErrorInfo and the reason whole", () => {
    const text = fc.string({ unit: "binary", maxLength: 3_000, size: "max" });
    fc.assert(
      fc.property(
        text,
        fc.dictionary(text, text, { maxKeys: 8, size: "max" }),
        fc.array(text, { maxLength: 20, size: "max" }),
        (message, metadata, fields) => {
          const error = new ProviderError("RATE_LIMITED", message, {
            metadata,
            fieldViolations: fields.map((field) => ({ field, description: field })),
            help: { description: message, url: message },
            quota: { subject: message, description: message },
          });
          const status = toStatus(error);
          expect(status.details.length).toBeLessThanOrEqual(maxDetailsBytes);
          expect(encodeURI(status.message).length).toBeLessThanOrEqual(1_024);
          expect(typesOf(error).slice(0, 2)).toEqual(["ErrorInfo", "RetryInfo"]);
          expect(typesOf(error).filter((type) => type === "ErrorInfo")).toHaveLength(1);
          const item = toItemError(error);
          expect([item.reason, item.code, Buffer.byteLength(item.message) <= 1_024]).toEqual(["RATE_LIMITED", 8, true]);
        },
      ),
      { numRuns: 10 },
    );
  });
});

describe("cutToBytes()", () => {
  test("keeps what fits and never splits a character", () => {
    expect(cutToBytes("short", 5)).toBe("short");
    expect(cutToBytes("aüüü", 6)).toBe("aü…");
    expect(Buffer.byteLength(cutToBytes("💥".repeat(100), 50))).toBeLessThanOrEqual(50);
  });

  test("makes half a surrogate pair well formed, which would throw in a header", () => {
    const half = "bad \ud83d";
    expect(() => encodeURI(half)).toThrow(URIError);
    expect(() => encodeURI(cutToHeaderBytes(half, 1_024))).not.toThrow();
  });
});
