import { expect, test } from "vitest";
import { formatId, instanceIdInName, parseId } from "./provider-id.ts";

test.each([
  ["/us-east-1a/i-0123456789abcdef0", { kind: "instance", instanceId: "i-0123456789abcdef0" }],
  ["/i-01234567", { kind: "instance", instanceId: "i-01234567" }],
  ["us-east-1a/i-01234567", { kind: "instance", instanceId: "i-01234567" }],
  ["/us-west-2a/0a1b/fargate-ip-10-0-0-7.ec2.internal", { kind: "foreign" }],
  ["/us-east-1a/i-0123", { kind: "malformed" }],
  ["/us-east-1a/I-0123456789ABCDEF0", { kind: "instance", instanceId: "i-0123456789abcdef0" }],
  ["/us-east-1a/vol-01234567", { kind: "malformed" }],
  ["", { kind: "malformed" }],
])("parseId() reads %s (case N-7)", (id, expected) => {
  expect(parseId(id)).toMatchObject(expected);
});

test("parseId() says what a malformed id should be like", () => {
  expect(parseId("/x")).toEqual({
    kind: "malformed",
    problem: "provider ID aws:///x is not of the form aws:///<zone>/i-<8 or 17 hex digits>",
  });
});

test("formatId() makes what parseId() reads", () => {
  expect(parseId(formatId("us-east-1a", "i-01234567"))).toEqual({ kind: "instance", instanceId: "i-01234567" });
});

test.each([
  ["i-0123456789abcdef0.us-east-1.compute.internal", "i-0123456789abcdef0"],
  ["i-0123456789abcdef0", "i-0123456789abcdef0"],
  ["ip-10-0-1-4.ec2.internal", undefined],
  ["i-am-a-name", undefined],
])("instanceIdInName() finds the machine of %s", (name, expected) => {
  expect(instanceIdInName(name)).toBe(expected);
});
