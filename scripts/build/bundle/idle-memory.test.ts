import { describe, expect, test } from "vitest";
import { isWorthCollecting } from "./idle-memory.mjs";

const MIB = 1024 * 1024;

describe("isWorthCollecting()", () => {
  test.each([
    { what: "has not been looked at before", utilization: 0, rssMiB: 90, afterLastMiB: 0, expected: true },
    { what: "is idle and has grown", utilization: 0.2, rssMiB: 106, afterLastMiB: 90, expected: true },
    { what: "has hardly grown", utilization: 0, rssMiB: 105, afterLastMiB: 90, expected: false },
    { what: "is smaller than before", utilization: 0, rssMiB: 60, afterLastMiB: 90, expected: false },
    { what: "works", utilization: 0.21, rssMiB: 500, afterLastMiB: 90, expected: false },
  ])("is $expected for a process that $what", ({ utilization, rssMiB, afterLastMiB, expected }) => {
    const now = { utilization, rssBytes: rssMiB * MIB, rssAfterLastBytes: afterLastMiB * MIB };
    expect(isWorthCollecting(now)).toBe(expected);
  });
});
