import { describe, expect, test } from "vitest";
import { errorReasons } from "@cloudwire/proto/reasons";
import { LOAD_BALANCER_REMEDIES } from "../../api/load-balancer-condition.ts";
import { contractError, ProviderError } from "./errors.ts";
import { classReason, failureReason } from "./failure-reason.ts";

describe("failureReason()", () => {
  test.each([
    ["OWNED_BY_ANOTHER_CLUSTER", "OwnedByAnotherCluster"],
    ["NAME_TAKEN", "Conflict"],
    ["CLOUD_CREDENTIALS_INVALID", "InvalidCredentials"],
    ["CLOUD_PERMISSION_DENIED", "PermissionDenied"],
    ["CLOUD_SETUP_INVALID", "CloudSetupInvalid"],
    ["SCOPE_MISMATCH", "ProviderScopeChanged"],
    ["FEATURE_UNSUPPORTED", "FeatureUnsupported"],
    ["ANNOTATION_INVALID", "Rejected"],
    ["CLOUD_UNAVAILABLE", "CloudUnavailable"],
    ["DEADLINE_PASSED", "OutcomeUnknown"],
  ] as const)("of %s is %s", (reason, expected) => {
    expect(failureReason(contractError(reason, "why"))).toBe(expected);
  });

  test.each([
    { code: "ALREADY_EXISTS", expected: "Conflict" },
    { code: "PERMISSION_DENIED", expected: "PermissionDenied" },
    { code: "UNAVAILABLE", expected: "ProviderUnavailable" },
    { code: "FAILED_PRECONDITION", expected: "CloudSetupInvalid" },
  ] as const)("follows code $code for a reason of the vendor (case S-8)", ({ code, expected }) => {
    const error = new ProviderError({ code, reason: "OWN", domain: "acme.example.com", message: "m" });
    expect(failureReason(error)).toBe(expected);
  });

  test.each(["constructor", "toString", "__proto__", ""])("ignores a reason that only looks known: %j", (reason) => {
    expect(failureReason({ reason, class: "FINAL", code: "UNKNOWN" })).toBe("Rejected");
  });
});

test("classReason() of every error of the contract is a reason of the condition on Services", () => {
  for (const reason of Object.keys(errorReasons)) {
    if (!isContractReason(reason)) throw new Error(`${reason} is not in the contract`);
    expect(LOAD_BALANCER_REMEDIES).toHaveProperty(classReason(contractError(reason, "why")));
  }
});

function isContractReason(reason: string): reason is keyof typeof errorReasons {
  return Object.hasOwn(errorReasons, reason);
}
