import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { beginningOf, flatText, hinted, withoutIDs, withoutRequestIDs, withoutUserinfo } from "./text.ts";

test.each(["", "plain", "Zürich → 東京 🚀"])("flatText() keeps %j as it is", (text) => {
  expect(flatText(text)).toBe(text);
});

test.each([
  ["four", "four"],
  ["fiver", "five …"],
])("beginningOf() makes %j %j", (text, beginning) => {
  expect(beginningOf(text, 4)).toBe(beginning);
});

describe("hinted", () => {
  test.each([
    { it: "with something to do", remedy: "pay", want: "quota (in 5 min). To fix: pay" },
    { it: "with nothing to do", remedy: undefined, want: "quota (in 5 min)" },
  ])("hinted() joins cause, retry and remedy, $it", ({ remedy, want }) => {
    expect(hinted("quota", "in 5 min", remedy, 100)).toBe(want);
  });

  test("hinted() truncates the cause, never the remedy", () => {
    const text = hinted("x".repeat(200), "in 5 min", "pay", 100);
    expect([text.length, text.endsWith("x… (in 5 min). To fix: pay")]).toEqual([100, true]);
  });
});

describe("userinfo", () => {
  test.each([
    ["http://collector:4317", "http://collector:4317"],
    ["unix:///run/provider.sock", "unix:///run/provider.sock"],
    ["", ""],
    ["http://user:hunter2@collector:4317", "http://***@collector:4317"],
    ["tcp://user:hun@ter/2@host:1", "tcp://***@host:1"],
    ["user:hunter2@collector:4317", "***@collector:4317"],
    ["//user:hunter2@collector", "***@collector"],
    ["HTTPS://hunter2\n@host", "HTTPS://***@host"],
  ])("withoutUserinfo() shows %j as %j", (address, shown) => {
    expect(withoutUserinfo(address)).toBe(shown);
  });
});

describe("withoutRequestIDs()", () => {
  test.each([
    ["api error Throttling: slow down, RequestID: 5d2c1f7e-1f3a-4a51", "api error Throttling: slow down, RequestID: …"],
    ["status 400, request id: req-0a1b2c, try again", "status 400, request id: …, try again"],
    ['failed (x-openstack-request-id="req-77ab")', 'failed (x-openstack-request-id="…")'],
    ["Correlation ID 8c4b2d is unknown. Try later.", "Correlation ID … is unknown. Try later."],
    ["trace_id=0af7651916cd43dd8448eb211c80319c", "trace_id=…"],
  ])("removes the ID from %s", (text, expected) => {
    expect(withoutRequestIDs(text)).toBe(expected);
  });

  test.each([
    "subnet 3f2b5a1c-7f0e-4b7e-9d55-0f6a1c2b3d4e does not exist",
    "the request is not valid: port 8080 is in use",
    "sg-0123456789abcdef0 refers to the security group",
    "request ID of the caller is missing",
  ])("keeps %s", (text) => {
    expect(withoutRequestIDs(text)).toBe(text);
  });
});

describe("withoutIDs()", () => {
  test.each([
    ["subnet 3f2b5a1c-7f0e-4b7e-9d55-0f6a1c2b3d4e is missing", "subnet … is missing"],
    ["at 2026-11-21T12:00:00.123Z and 2026-11-21 12:00:01", "at … and …"],
    ["token AbC123dEf456GhI789jk expired", "token … expired"],
    ["since 1790000000123 ms", "since … ms"],
    [
      "port 8080 of 3 nodes at 10.0.0.1 is in namespace kubernetes-dashboard",
      "port 8080 of 3 nodes at 10.0.0.1 is in namespace kubernetes-dashboard",
    ],
  ])("makes one text of %s", (text, expected) => {
    expect(withoutIDs(text)).toBe(expected);
  });

  test("gives texts that differ only in IDs and times the same result", () => {
    const id = fc.oneof(
      fc.uuid(),
      fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((date) => date.toISOString()),
      fc.integer({ min: 10_000_000 }).map(String),
      fc.constant(0).map(() => randomUUID().replaceAll("-", "")),
    );
    const text = fc.array(fc.oneof(fc.constant("quota of project demo is used up"), fc.constant(undefined)), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(text, fc.infiniteStream(id), (parts, ids) => {
        const write = () => parts.map((part) => part ?? ids.next().value).join(", ");
        expect(withoutIDs(write())).toBe(withoutIDs(write()));
      }),
    );
  });
});
