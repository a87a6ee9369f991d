import { expect, test } from "vitest";
import { formatRef, parseRef } from "./object-name.ts";

test.each([
  { text: "node/worker-1", kind: "node", name: "worker-1" },
  { text: "service/shop/web", kind: "service", name: "shop/web" },
  { text: "provider/aws", kind: "provider", name: "aws" },
] as const)("parseRef() reads $text, and formatRef() writes it back", ({ text, kind, name }) => {
  expect(parseRef(text)).toEqual({ kind, name });
  expect(formatRef({ kind, name })).toBe(text);
});

test.each(["", "node", "node/", "pod/web", "/worker-1"])("parseRef() knows no object in %j", (text) => {
  expect(parseRef(text)).toBeUndefined();
});
