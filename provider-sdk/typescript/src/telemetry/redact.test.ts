import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redactText } from "./redact.ts";

// Put together here, so that no scanner of repositories takes them for real.
const pem = (kind: string) =>
  ["-----BEGIN ", kind, "PRIVATE KEY-----\nMIIEvQ\nabc==\n-----END ", kind, "PRIVATE KEY-----"].join("");

describe("redactText()", () => {
  test.each([
    ["a private key", pem(""), "***"],
    ["an RSA key, cut short", pem("RSA ").slice(0, 45), "***"],
    ["a bearer token", "authorization: Bearer abc.def-123", "authorization: Bearer ***"],
    ["basic credentials", "basic dXNlcjpwYXNz", "basic ***"],
    ["a web token", `t ${["eyJhbGciOi", "eyJzdWIiOi", "c2lnbmF0"].join(".")} x`, "t *** x"],
    ["an AWS key id", `id ${["AKIA", "IOSFODNN7EXAMPLE"].join("")}`, "id ***"],
    ["a Google key", `k ${"AIza" + "a".repeat(35)}`, "k ***"],
    ["a GitHub token", `k ${"ghp_" + "a".repeat(36)}`, "k ***"],
    ["a DigitalOcean token", `k ${"dop_v1_" + "a".repeat(64)}`, "k ***"],
    ["a user in a URL", "https://user:pass@host/path", "https://***@host/path"],
    ["a query", "https://host/?a=1&api_key=abcdef&b=2", "https://host/?a=1&api_key=***&b=2"],
    ["a signature", "https://host/?X-Amz-Signature=0123abcd", "https://host/?X-Amz-Signature=***"],
    ["JSON inside of a text", '{"user":"u","password":"abcdef"}', '{"user":"u","password":"***"}'],
    ["a connection string", "host=db password=abcdef port=1", "host=db password=*** port=1"],
  ])("hides %s", (_title, text, safe) => {
    expect(redactText(text)).toBe(safe);
  });

  test.each([
    "no secret was found: give it a token",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "GET https://api.acme.example.com/machines?id=i-1: HTTP 404",
    "acme://zone-a/i-0123456789abcdef",
    "user@example.com",
    "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  ])("leaves alone: %s", (text) => {
    expect(redactText(text)).toBe(text);
  });

  test("cuts what is too long, and needs no longer for what is made to be slow", () => {
    const long = redactText("password".repeat(100_000));
    expect([long.length, long.endsWith("…")]).toEqual([32_769, true]);
  });

  test("never lets a bearer token through, whatever stands around it", () => {
    const token = fc.stringMatching(/^[A-Za-z0-9._~+/-]{12,80}$/);
    fc.assert(
      fc.property(fc.string(), token, fc.string(), (before, secret, after) => {
        expect(redactText(`${before} Bearer ${secret} ${after}`)).not.toContain(` ${secret} `);
      }),
    );
  });
});
