import { ProviderError } from "@cloudwire/provider-sdk";
import { describe, expect, test } from "vitest";
import { isStatus, readFault, reasonOf, toProviderError } from "./errors.ts";

describe("reasonOf()", () => {
  test.each([
    [400, "", "Invalid input", "FIELD_INVALID"],
    [400, "IpAddressInUse", "", "ADDRESS_IN_USE"],
    [400, "RoutesExhausted", "", "QUOTA_EXCEEDED"],
    [400, "InvalidRoutes", "the nexthop is not connected with router", "CLOUD_SETUP_INVALID"],
    [401, "Unauthorized", "", "CLOUD_CREDENTIALS_INVALID"],
    [403, "forbidden", "Policy doesn't allow os_compute_api:servers:index to be performed.", "CLOUD_PERMISSION_DENIED"],
    [403, "", "Quota has been met for resources: Load Balancer", "QUOTA_EXCEEDED"],
    [403, "forbidden", "Quota exceeded for cores: Requested 8", "QUOTA_EXCEEDED"],
    [404, "itemNotFound", "", "INCOMPLETE_ANSWER"],
    [404, "ExternalGatewayForFloatingIPNotFound", "", "CLOUD_SETUP_INVALID"],
    [406, "", "Version 2.69 is not supported by the API", "FEATURE_UNSUPPORTED"],
    [408, "", "", "CLOUD_TIMEOUT"],
    [409, "OverQuota", "Quota exceeded for resources: ['floatingip'].", "QUOTA_EXCEEDED"],
    [409, "IpAddressGenerationFailure", "No more IP addresses available", "QUOTA_EXCEEDED"],
    [409, "FloatingIPPortAlreadyAssociated", "", "ADDRESS_IN_USE"],
    [409, "IpAddressAlreadyAllocated", "", "ADDRESS_IN_USE"],
    [409, "RouterInterfaceInUseByRoute", "", "NOT_READY"],
    [409, "SecurityGroupInUse", "", "DEPENDENCY_IN_USE"],
    [409, "", "Load Balancer 1 is immutable and cannot be updated.", "NOT_READY"],
    [413, "overLimit", "VolumeLimitExceeded", "QUOTA_EXCEEDED"],
    [429, "", "", "RATE_LIMITED"],
    [500, "computeFault", "", "CLOUD_UNAVAILABLE"],
    [503, "", "", "CLOUD_UNAVAILABLE"],
    [504, "", "", "CLOUD_TIMEOUT"],
    [418, "", "", "INCOMPLETE_ANSWER"],
  ])("takes %i %s %s for %4$s (case S-8)", (status, type, text, reason) => {
    expect(reasonOf({ status, type, text })).toBe(reason);
  });

  test("takes 413 with a time to wait for throttling", () => {
    expect(reasonOf({ status: 413, type: "overLimit", text: "", retryAfterMs: 3_000 })).toBe("RATE_LIMITED");
  });
});

describe("readFault()", () => {
  test.each([
    [
      "Nova",
      { itemNotFound: { message: "no such server", code: 404 } },
      { type: "itemNotFound", text: "no such server" },
    ],
    [
      "Neutron",
      { NeutronError: { type: "OverQuota", message: "full", detail: "" } },
      { type: "OverQuota", text: "full" },
    ],
    ["Octavia", { faultcode: "Client", faultstring: "immutable", debuginfo: null }, { type: "", text: "immutable" }],
    ["Keystone", { error: { code: 401, message: "no", title: "Unauthorized" } }, { type: "Unauthorized", text: "no" }],
    ["a proxy", "<html>Bad gateway</html>", { type: "", text: "<html>Bad gateway</html>" }],
    ["no one", undefined, { type: "", text: "" }],
  ])("reads the form of %s", (_who, body, expected) => {
    expect(readFault(body)).toEqual(expected);
  });
});

describe("toProviderError()", () => {
  test("contains the request and the response, also as metadata", () => {
    const error = toProviderError({
      request: "network POST /floatingips",
      status: 409,
      type: "OverQuota",
      text: "full",
    });
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({
      reason: "QUOTA_EXCEEDED",
      message: "OpenStack returned HTTP 409 OverQuota full for network POST /floatingips",
      metadata: { http_status: "409", openstack_type: "OverQuota" },
      quota: { subject: "OverQuota", description: "full" },
    });
    expect([isStatus(error, 409), isStatus(error, 404)]).toEqual([true, false]);
  });

  test("hands on how long to wait", () => {
    const refusal = { request: "", status: 429, type: "", text: "", retryAfterMs: 7_000 };
    expect(toProviderError(refusal).retryAfterMs).toBe(7_000);
  });
});
