import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PageTokens } from "./page-tokens.ts";

const position = { walkId: "walk-1", offset: 500 };

describe("PageTokens", () => {
  test("reads what it signed, for the same request", () => {
    const tokens = new PageTokens();
    expect(tokens.read(tokens.sign(position, "request"), "request")).toEqual(position);
  });

  test.each<[string, (tokens: PageTokens) => string]>([
    ["of another request", (tokens) => tokens.sign(position, "other")],
    ["of another process", () => new PageTokens().sign(position, "request")],
    ["with another offset", (tokens) => tokens.sign(position, "request").replace(".500.", ".501.")],
    ["that is cut", (tokens) => tokens.sign(position, "request").slice(0, -1)],
  ])("refuses a token %s", (_title, make) => {
    const tokens = new PageTokens();
    expect(() => tokens.read(make(tokens), "request")).toThrow(
      expect.objectContaining({ reason: "PAGE_TOKEN_INVALID" }),
    );
  });

  test("refuses any other text, and signs tokens far below 2 KiB", () => {
    const tokens = new PageTokens();
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(() => tokens.read(text, "request")).toThrow(expect.objectContaining({ reason: "PAGE_TOKEN_INVALID" }));
      }),
    );
    expect(tokens.sign({ walkId: "w".repeat(64), offset: 999_999_999 }, "request").length).toBeLessThan(256);
  });
});
