import { ErrorInfo, RetryInfo } from "../gen/google/rpc/error_details.ts";
import { Status } from "../gen/google/rpc/status.ts";
import { describe, expect, test } from "vitest";
import { detailsFromJson, detailsToJson } from "./status-details.ts";

const info = { reason: "RATE_LIMITED", domain: "cloudprovider.v1", metadata: { cloud_request_ids: "c-1" } };
const status = Status.encode({
  code: 8,
  message: "wait",
  details: [
    { typeUrl: "type.googleapis.com/google.rpc.ErrorInfo", value: Buffer.from(ErrorInfo.encode(info).finish()) },
    {
      typeUrl: "type.googleapis.com/google.rpc.RetryInfo",
      value: Buffer.from(RetryInfo.encode({ retryDelay: { seconds: 2n, nanos: 500_000_000 } }).finish()),
    },
    { typeUrl: "type.googleapis.com/acme.Hint", value: Buffer.of(1, 2, 3) },
  ],
}).finish();

describe("detailsToJson() and detailsFromJson()", () => {
  test("show what is known by its fields and all else as bytes, and give the same bytes back", () => {
    const details = detailsToJson(status);
    expect(details.map((detail) => detail["@type"])).toEqual([
      "google.rpc.ErrorInfo",
      "google.rpc.RetryInfo",
      "acme.Hint",
    ]);
    expect(details[0]).toEqual({ "@type": "google.rpc.ErrorInfo", ...info });
    expect(details[2]).toEqual({ "@type": "acme.Hint", bytes: "AQID" });
    expect(Buffer.from(detailsFromJson(8, "wait", details))).toEqual(Buffer.from(status));
  });

  test("take bytes that are no Status for no details", () => {
    expect(detailsToJson(Uint8Array.of(255, 255))).toEqual([]);
  });
});
