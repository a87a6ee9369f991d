import { ProviderError } from "@cloudwire/provider-sdk";
import { describe, expect, test } from "vitest";
import { errorCode, isCode, toProviderError } from "./errors.ts";

/** As the SDK of AWS throws it. */
const awsError = (name: string, status = 400, headers: Readonly<Record<string, string>> = {}): Error =>
  Object.assign(new Error(`message of AWS: ${name}`), {
    name,
    $fault: status >= 500 ? "server" : "client",
    $metadata: { httpStatusCode: status },
    $response: { headers },
  });

const known = (error: unknown): ProviderError => {
  const made = toProviderError(error);
  if (made instanceof ProviderError) return made;
  throw new Error("it is no error of the contract");
};

describe("toProviderError()", () => {
  test.each([
    ["RequestLimitExceeded", 503, "RATE_LIMITED"],
    ["Throttling", 400, "RATE_LIMITED"],
    ["ThrottlingException", 400, "RATE_LIMITED"],
    ["EC2ThrottledException", 503, "RATE_LIMITED"],
    ["AuthFailure", 401, "CLOUD_CREDENTIALS_INVALID"],
    ["ExpiredTokenException", 403, "CLOUD_CREDENTIALS_INVALID"],
    ["InvalidClientTokenId", 403, "CLOUD_CREDENTIALS_INVALID"],
    ["UnauthorizedOperation", 403, "CLOUD_PERMISSION_DENIED"],
    ["AccessDeniedException", 403, "CLOUD_PERMISSION_DENIED"],
    ["TooManyLoadBalancersException", 400, "QUOTA_EXCEEDED"],
    ["RouteLimitExceeded", 400, "QUOTA_EXCEEDED"],
    ["RulesPerSecurityGroupLimitExceeded", 400, "QUOTA_EXCEEDED"],
    ["DependencyViolation", 400, "DEPENDENCY_IN_USE"],
    ["ResourceInUseException", 400, "DEPENDENCY_IN_USE"],
    ["InvalidSubnetException", 400, "CLOUD_SETUP_INVALID"],
    ["OptInRequired", 403, "CLOUD_SETUP_INVALID"],
    ["InvalidVpcID.NotFound", 400, "CLOUD_SETUP_INVALID"],
    ["LoadBalancerNotFoundException", 400, "NOT_READY"],
    ["InvalidInstanceID.NotFound", 400, "NOT_READY"],
    ["InvalidTargetException", 400, "NOT_READY"],
    ["OperationNotPermittedException", 400, "DELETION_PROTECTED"],
    ["DuplicateLoadBalancerNameException", 400, "NAME_TAKEN"],
    ["Resource.AlreadyAssociated", 400, "ADDRESS_IN_USE"],
    ["CertificateNotFoundException", 400, "FIELD_INVALID"],
    ["InternalError", 500, "CLOUD_UNAVAILABLE"],
    ["NeverHeardOf", 502, "CLOUD_UNAVAILABLE"],
    ["RequestTimeout", 400, "CLOUD_TIMEOUT"],
  ])("takes %s with %i for %s (case S-8)", (name, status, reason) => {
    expect(known(awsError(name, status)).reason).toBe(reason);
  });

  test("leaves a code that is not known as it is", () => {
    const error = awsError("NeverHeardOf");
    expect(toProviderError(error)).toBe(error);
  });

  test("leaves what is not of AWS to the SDK", () => {
    const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    const aborted = new DOMException("aborted", "AbortError");
    expect([reset, aborted, undefined, "x"].map(toProviderError)).toEqual([reset, aborted, undefined, "x"]);
  });

  test("says what AWS said, under its code", () => {
    const error = known(awsError("UnauthorizedOperation", 403));
    expect(error.message).toBe("AWS returned UnauthorizedOperation: message of AWS: UnauthorizedOperation");
    expect(error.metadata).toEqual({ aws_code: "UnauthorizedOperation" });
  });

  test("waits as long as AWS says", () => {
    expect(known(awsError("Throttling", 400, { "retry-after": "7" })).retryAfterMs).toBe(7000);
  });

  test("waits as long as the contract says where AWS does not", () => {
    expect(known(awsError("Throttling")).retryAfterMs).toBe(5000);
    expect(known(awsError("Throttling", 400, { "retry-after": "0" })).retryAfterMs).toBe(5000);
  });

  test("understands that there are no credentials", () => {
    const error = Object.assign(new Error("Could not load credentials"), { name: "CredentialsProviderError" });
    expect(known(error).reason).toBe("CLOUD_CREDENTIALS_INVALID");
  });
});

test("errorCode() finds AWS' code within an error of the contract", () => {
  expect(errorCode(toProviderError(awsError("ResourceInUseException")))).toBe("ResourceInUse");
  expect(isCode(toProviderError(awsError("ResourceInUseException")), "ResourceInUse")).toBe(true);
  expect(errorCode(new Error("x"))).toBeUndefined();
});
