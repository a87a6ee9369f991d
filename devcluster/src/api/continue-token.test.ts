import { expect, test } from "vitest";
import { formatContinueToken, parseContinueToken } from "./continue-token.ts";

test("parseContinueToken() reads what formatContinueToken() writes", () => {
  const token = { revision: 7, lastKey: "a-b" };
  expect(parseContinueToken(formatContinueToken(token))).toEqual(token);
});

test("parseContinueToken() reads a token of kube-apiserver", () => {
  const text = Buffer.from('{"v":"meta.k8s.io/v1","rv":290,"start":"/m2\\u0000"}').toString("base64url");
  expect(parseContinueToken(text)).toEqual({ revision: 290, lastKey: "m2" });
});

test.each([
  "",
  "abc",
  Buffer.from('{"v":"v2","rv":1,"start":"a"}').toString("base64url"),
  Buffer.from('{"v":"meta.k8s.io/v1","rv":1}').toString("base64url"),
])("parseContinueToken() refuses %j", (text) => {
  expect(() => parseContinueToken(text)).toThrow(expect.objectContaining({ code: 400 }));
});
