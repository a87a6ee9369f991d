import { describe, expect, test } from "vitest";
import { refused, renewAtMs } from "./keystone.ts";

const request = "identity POST /auth/tokens";

describe("refused()", () => {
  test.each([
    [401, "Unauthorized", "CLOUD_CREDENTIALS_INVALID"],
    // As Keystone 30 answers for a credential that was deleted.
    [404, "Not Found", "CLOUD_CREDENTIALS_INVALID"],
    [429, "", "RATE_LIMITED"],
    [503, "", "CLOUD_UNAVAILABLE"],
  ])("takes %i for %3$s", (status, type, reason) => {
    expect(refused({ request, status, type, text: "Could not find Application Credential: 1." })).toMatchObject({
      reason,
    });
  });
});

test.each([
  ["an hour's", 3_600_000, 3_300_000],
  ["a short one", 240_000, 120_000],
  ["one of six minutes", 360_000, 180_000],
])("renewAtMs() renews %s token in time", (_what, expiresMs, expected) => {
  expect(renewAtMs({ issuedMs: 0, expiresMs })).toBe(expected);
});
