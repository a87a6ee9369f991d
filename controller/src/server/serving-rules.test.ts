import { describe, expect, test } from "vitest";
import { statusPageProblems } from "./options.ts";

describe("statusPageProblems()", () => {
  test.each(["", "127.0.0.1:10269", "127.0.0.1:0", "127.9.9.9:1", "[::1]:10269"])("takes %j", (statusPageAddress) => {
    expect(statusPageProblems({ statusPageAddress })).toEqual([]);
  });

  const shape = "is not an IP address and a port; write it like 127.0.0.1:10269";
  const outside =
    "is not on loopback, and there is no authentication; take 127.0.0.1 or [::1], or the page at --secure-port";

  test.each([
    ["10269", shape],
    ["127.0.0.1", shape],
    ["127.0.0.1:65536", shape],
    ["localhost:10269", shape],
    ["300.0.0.1:1", shape],
    ["http://127.0.0.1:1", shape],
    [":10269", outside],
    ["0.0.0.0:10269", outside],
    ["10.0.0.1:10269", outside],
    ["[::]:10269", outside],
    ["[fe80::1]:10269", outside],
  ])("refuses %j: it %s", (statusPageAddress, what) => {
    expect(statusPageProblems({ statusPageAddress })).toEqual([
      { where: "--status-page-address", what: `"${statusPageAddress}" ${what}` },
    ]);
  });
});
