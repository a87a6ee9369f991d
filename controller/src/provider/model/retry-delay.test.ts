import { expect, test } from "vitest";
import type { ErrorReason } from "@cloudwire/proto/reasons";
import { contractError, ProviderError } from "./errors.ts";
import { retryDelayMs } from "./retry-delay.ts";

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
  ["CLOUD_UNAVAILABLE", 7000],
  ["INVARIANT_BROKEN", 7000],
  ["CLOUD_CREDENTIALS_INVALID", MINUTE_MS],
])("retryDelayMs() of %s is at least what the provider named", (reason, expected) => {
  expect(retryDelayMs(contractError(reason, "m", { retryAfterMs: 7000 }), 1)).toBe(expected);
});
