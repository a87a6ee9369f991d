import { describe, expect, it, test } from "vitest";
import { readCommandLine } from "./answers.ts";

describe("readCommandLine", () => {
  it("takes a name and options in any order", () => {
    const args = ["--language=go", "my-provider", "--id-prefix", "my", "--domain", "my.example.com", "--sdk", "../cw"];
    expect(readCommandLine(args)).toEqual({
      kind: "create",
      answers: {
        name: "my-provider",
        language: "go",
        idPrefix: "my",
        domain: "my.example.com",
        dir: undefined,
        sdk: "../cw",
      },
      problems: [],
    });
  });

  test.each([
    ["help", ["my-provider", "--help"]],
    ["help", ["-h", "--wrong"]],
    ["version", ["--version"]],
  ])("answers %s when asked for it among other things", (kind, args) => {
    expect(readCommandLine(args)).toEqual({ kind });
  });

  it("reports every problem when there are several", () => {
    expect(readCommandLine(["a", "b", "--lang=go", "--sdk=", "--domain", "--dir"])).toMatchObject({
      problems: [
        "--lang: no such option; --help lists them",
        "--sdk: needs a value",
        "--domain: needs a value",
        "b: one name is enough; put -- before the options",
      ],
    });
  });
});
