import { ProviderError } from "@cloudwire/provider-sdk";
import { expect, test } from "vitest";
import { errorCodes } from "../api/errors.ts";
import { type CallFailure, CloudCallError } from "../client/http.ts";
import { refusalCode, toProviderError } from "./errors.ts";

const reasonOf = (failure: CallFailure): string | undefined => {
  const error = toProviderError(new CloudCallError("GET /v1/x: failed", failure, "req-1"));
  return error instanceof ProviderError ? error.reason : undefined;
};

const refused = (status: number, code: string): CallFailure => ({
  kind: "refused",
  status,
  code,
  retryAfterMs: undefined,
});

test.each<[CallFailure, string]>([
  [refused(401, "Unauthenticated"), "CLOUD_CREDENTIALS_INVALID"],
  [refused(403, "AccessDenied"), "CLOUD_PERMISSION_DENIED"],
  [refused(403, "QuotaExceeded"), "QUOTA_EXCEEDED"],
  [refused(429, "RateLimited"), "RATE_LIMITED"],
  [refused(500, "InternalError"), "CLOUD_UNAVAILABLE"],
  [refused(503, "ServiceUnavailable"), "CLOUD_UNAVAILABLE"],
  [refused(503, "AddressPoolExhausted"), "QUOTA_EXCEEDED"],
  [refused(409, "AddressInUse"), "ADDRESS_IN_USE"],
  [refused(409, "InvalidState"), "NOT_READY"],
  [refused(409, "ResourceProtected"), "DELETION_PROTECTED"],
  [refused(404, "NoSuchEndpoint"), "INVARIANT_BROKEN"],
  [refused(404, "SomethingNew"), "INVARIANT_BROKEN"],
  [refused(418, "Teapot"), "INVARIANT_BROKEN"],
  [{ kind: "noAnswer" }, "CLOUD_UNAVAILABLE"],
  [{ kind: "aborted" }, "CLOUD_TIMEOUT"],
  [{ kind: "unreadable", status: 200 }, "INCOMPLETE_ANSWER"],
  [{ kind: "unreadable", status: 502 }, "CLOUD_UNAVAILABLE"],
])("toProviderError() of %j is %s", (failure, reason) => {
  expect(reasonOf(failure)).toBe(reason);
});

test("toProviderError() has a meaning for every code of the cloud", () => {
  const meanings = Object.entries(errorCodes).map(([code, { status }]) => reasonOf(refused(status, code)));
  expect(meanings).not.toContain(undefined);
});

test("toProviderError() passes on how long to wait", () => {
  const failure = { ...refused(429, "RateLimited"), retryAfterMs: 7000 } as const;
  expect(toProviderError(new CloudCallError("x", failure, undefined))).toMatchObject({ retryAfterMs: 7000 });
});

test("toProviderError() leaves other errors alone, and refusalCode() sees through it", () => {
  const other = new Error("bug");
  expect(toProviderError(other)).toBe(other);
  expect(refusalCode(other)).toBeUndefined();
  const error = toProviderError(new CloudCallError("x", refused(409, "NameInUse"), undefined));
  expect(refusalCode(error)).toBe("NameInUse");
});
