import { expect, test } from "vitest";
import { errorOf } from "./endpoints.ts";

test.each<{ what: string; body: string; status: number; statusText: string; says: string }>([
  {
    what: "the text",
    body: "not now\n",
    status: 503,
    statusText: "Service Unavailable",
    says: "503 Service Unavailable: not now",
  },
  {
    what: "the message of an object",
    body: '{"message":"not you."}',
    status: 403,
    statusText: "Forbidden",
    says: "403 Forbidden: not you",
  },
  { what: "a word once", body: "Unauthorized", status: 401, statusText: "Unauthorized", says: "401 Unauthorized" },
  { what: "no markup", body: "<html>no</html>", status: 502, statusText: "", says: "502" },
  {
    what: "the beginning of a long one",
    body: "a".repeat(999),
    status: 500,
    statusText: "",
    says: `500: ${"a".repeat(300)} …`,
  },
])("refusalOf() says $what", async ({ body, status, statusText, says }) => {
  expect(await errorOf(new Response(body, { status, statusText }))).toBe(`the controller responded with ${says}`);
});
