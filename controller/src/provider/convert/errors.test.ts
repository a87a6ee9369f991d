import { Any } from "@cloudwire/proto/google/protobuf/any";
import { BadRequest, ErrorInfo, QuotaFailure, RetryInfo } from "@cloudwire/proto/google/rpc/error_details";
import { Status } from "@cloudwire/proto/google/rpc/status";
import { describe, expect, test } from "vitest";
import { errorOfCall, errorOfItem } from "./errors.ts";

const any = (name: string, value: Uint8Array): Any =>
  Any.fromPartial({ typeUrl: `type.googleapis.com/google.rpc.${name}`, value: Buffer.from(value) });

const status = (...details: readonly Any[]): Uint8Array =>
  Status.encode(Status.fromPartial({ code: 8, message: "slow down", details: [...details] })).finish();

const call = { what: "acme EnsureLoadBalancer", code: 8, message: "slow down", requestId: "r-1", cause: undefined };

describe("errorOfCall()", () => {
  test("reads every detail it knows and ignores the others", () => {
    const error = errorOfCall({
      ...call,
      statusDetails: status(
        any("Help", new Uint8Array([1, 2, 3])),
        any(
          "ErrorInfo",
          ErrorInfo.encode({
            reason: "RATE_LIMITED",
            domain: "cloudprovider.v1",
            metadata: { bucket: "write", cloud_request_ids: "c-1,c-2" },
          }).finish(),
        ),
        any("RetryInfo", RetryInfo.encode({ retryDelay: { seconds: 2n, nanos: 500_000_000 } }).finish()),
        any(
          "BadRequest",
          BadRequest.encode({ fieldViolations: [{ field: "spec.ports[0]", description: "no" }] }).finish(),
        ),
        any(
          "QuotaFailure",
          QuotaFailure.encode({ violations: [{ subject: "project:1", description: "full" }] }).finish(),
        ),
      ),
    });
    expect(error).toMatchObject({
      message: "acme EnsureLoadBalancer: RATE_LIMITED: slow down",
      code: "RESOURCE_EXHAUSTED",
      reason: "RATE_LIMITED",
      domain: "cloudprovider.v1",
      class: "WAIT",
      fromTransport: false,
      retryAfterMs: 2500,
      fieldViolations: [{ field: "spec.ports[0]", description: "no" }],
      quotaViolations: [{ subject: "project:1", description: "full" }],
      metadata: { bucket: "write" },
      requestId: "r-1",
      cloudRequestIds: ["c-1", "c-2"],
    });
  });

  test.each([
    ["an age", 3_000_000_000n, 1_800_000],
    ["no delay", 0n, undefined],
    ["a negative delay", -5n, undefined],
  ])(
    "takes %s in RetryInfo as at most half an hour, and as none unless positive (case A-3)",
    (_, seconds, retryAfterMs) => {
      const retryInfo = any("RetryInfo", RetryInfo.encode({ retryDelay: { seconds, nanos: 0 } }).finish());
      expect(errorOfCall({ ...call, statusDetails: status(retryInfo) }).retryAfterMs).toBe(retryAfterMs);
    },
  );

  test("keeps the cause", () => {
    const cause = new Error("the transport's");
    expect(errorOfCall({ ...call, cause, statusDetails: undefined }).cause).toBe(cause);
  });

  test.each([
    ["no details", undefined],
    ["details without ErrorInfo", status()],
    ["details that are no status", Buffer.from("not protobuf at all")],
  ])("takes a status with %s as the transport's", (_, statusDetails) => {
    expect(errorOfCall({ ...call, statusDetails })).toMatchObject({
      message: "acme EnsureLoadBalancer: RESOURCE_EXHAUSTED: slow down",
      reason: "",
      domain: "",
      class: "OUTCOME_UNKNOWN",
      fromTransport: true,
    });
  });
});

describe("errorOfItem()", () => {
  const item = {
    code: 14,
    reason: "ZONE_UNREACHABLE",
    domain: "",
    message: "zone b",
    retryAfter: undefined,
    metadata: { zone: "b" },
    field: "",
  };

  test("takes an empty domain as the contract's", () => {
    expect(errorOfItem(item, "acme: node n1", "r-1")).toMatchObject({
      code: "UNAVAILABLE",
      class: "TRANSIENT",
      domain: "cloudprovider.v1",
      message: "acme: node n1: ZONE_UNREACHABLE: zone b",
      metadata: { zone: "b" },
      requestId: "r-1",
    });
  });

  test.each([
    ["none", {}, []],
    ["one", { cloud_request_ids: "c-1" }, ["c-1"]],
    ["an empty list", { cloud_request_ids: "" }, []],
    ["a list with a gap", { cloud_request_ids: "c-1,,c-2" }, ["c-1", "c-2"]],
  ])("reads the cloud's request ids: %s", (_, metadata, cloudRequestIds) => {
    expect(errorOfItem({ ...item, metadata }, "w", "").cloudRequestIds).toEqual(cloudRequestIds);
  });

  test("names the code where there is no reason", () => {
    expect(errorOfItem({ ...item, reason: "" }, "acme: node n1", "").message).toBe(
      "acme: node n1: UNAVAILABLE: zone b",
    );
  });

  test("reads a code that does not exist as UNKNOWN", () => {
    expect(errorOfItem({ ...item, code: 99, domain: "acme.example.com" }, "w", "")).toMatchObject({
      code: "UNKNOWN",
      class: "OUTCOME_UNKNOWN",
    });
  });
});
