import { expect, test } from "vitest";
import { retryDelayMs } from "./retry-delay.ts";

test.each([
  { failures: 1, random: 0, delayMs: 1_000 },
  { failures: 2, random: 0, delayMs: 2_000 },
  { failures: 5, random: 0, delayMs: 16_000 },
  { failures: 6, random: 0, delayMs: 30_000 },
  { failures: 1_000, random: 0, delayMs: 30_000 },
  { failures: 2, random: 0.5, delayMs: 1_750 },
  { failures: 2, random: 1, delayMs: 1_500 },
])("retryDelayMs() waits $delayMs ms after $failures failures", ({ failures, random, delayMs }) => {
  expect(retryDelayMs(failures, random)).toBe(delayMs);
});
