import { describe, expect, it, test } from "vitest";
import { checkAnswers, pythonPackage } from "./choices.ts";

describe("checkAnswers", () => {
  it("makes the rest from the name when only name and language are given", () => {
    expect(checkAnswers({ name: "acme-provider", language: "go" })).toEqual({
      kind: "fine",
      choices: {
        name: "acme-provider",
        language: "go",
        domain: "acme.example.com",
        idPrefix: "acme",
        dir: "acme-provider",
        sdk: undefined,
      },
    });
  });

  it("takes what is given when everything is", () => {
    const answers = { name: "x", language: "py", domain: "x.io", idPrefix: "x+y://", dir: "/tmp/x", sdk: ".." };
    expect(checkAnswers(answers)).toEqual({
      kind: "fine",
      choices: { name: "x", language: "python", domain: "x.io", idPrefix: "x+y", dir: "/tmp/x", sdk: ".." },
    });
  });

  it("reports all problems together when all answers are wrong", () => {
    const checked = checkAnswers({ name: "My_Provider", language: "rust", domain: "localhost", idPrefix: "A" });
    expect(checked).toEqual({
      kind: "wrong",
      problems: [
        expect.stringContaining('name "My_Provider"'),
        expect.stringContaining('--language "rust"'),
        expect.stringContaining('--id-prefix "A"'),
        expect.stringContaining('--domain "localhost"'),
      ],
    });
  });

  it("asks for name and language when nothing is given", () => {
    expect(checkAnswers({})).toEqual({
      kind: "wrong",
      problems: [expect.stringContaining("a name is missing"), expect.stringContaining("--language is missing")],
    });
  });

  test.each([
    "",
    "9lives",
    "-a",
    "a-",
    "a--b",
    "a.b",
    "a/b",
    "../a",
    "é",
    "a".repeat(41),
    "cloudwire",
    "cloudwire-provider",
  ])("refuses the name %j", (name) => {
    expect(checkAnswers({ name, language: "go" })).toMatchObject({ kind: "wrong" });
  });

  test.each(["acme", "acme.", ".acme.com", "ACME.com", "a_b.com", "-a.com", `${"a".repeat(60)}.com`])(
    "refuses the domain %j",
    (domain) => {
      expect(checkAnswers({ name: "a", language: "go", domain })).toMatchObject({ kind: "wrong" });
    },
  );

  it("makes a domain that it would take itself when name and prefix are as odd as they may be", () => {
    for (const idPrefix of ["a", "a+b.c", "a".repeat(60), `a${"+.".repeat(20)}b`]) {
      const checked = checkAnswers({ name: "x", language: "go", idPrefix });
      const domain = checked.kind === "fine" ? checked.choices.domain : "";
      expect(checkAnswers({ name: "x", language: "go", idPrefix, domain })).toEqual(checked);
    }
  });
});

describe("pythonPackage", () => {
  test.each([
    ["acme-provider", "acme_provider"],
    ["json", "json_provider"],
    ["my-cloud", "my_cloud_provider"],
  ])("makes of %s the name %s, which no module of Python has", (name, expected) => {
    expect(pythonPackage(name)).toBe(expected);
  });
});
