import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { askForMissing } from "./prompts.ts";

/** A person who types these lines, each after the question. */
const typing = (...lines: readonly string[]) => {
  const input = new PassThrough();
  const output = new PassThrough();
  const written: string[] = [];
  const rest = [...lines];
  output.on("data", (chunk: Buffer) => {
    written.push(chunk.toString());
    if (!chunk.toString().endsWith(": ")) return;
    const line = rest.shift();
    setImmediate(() => (line === undefined ? input.end() : input.write(`${line}\r`)));
  });
  return { terminal: { input, output }, written };
};

const never = new AbortController().signal;

describe("askForMissing", () => {
  it("asks for what is missing and takes the words in brackets on Enter", async () => {
    const { terminal } = typing("acme-provider", "ts", "", "acme.io");
    expect(await askForMissing({ sdk: ".." }, terminal, never)).toEqual({
      name: "acme-provider",
      language: "ts",
      idPrefix: "acme",
      domain: "acme.io",
      sdk: "..",
    });
  });

  it("prints the problem and asks again when an answer is invalid", async () => {
    const { terminal, written } = typing("Acme", "acme", "rust", "go", "", "");
    expect(await askForMissing({}, terminal, never)).toMatchObject({ name: "acme", language: "go" });
    expect(written.join("")).toContain('name "Acme"');
    expect(written.join("")).toContain('--language "rust"');
  });

  it("asks nothing when name and language are there", async () => {
    const { terminal, written } = typing();
    expect(await askForMissing({ name: "a", language: "go" }, terminal, never)).toEqual({ name: "a", language: "go" });
    expect(written).toEqual([]);
  });

  it("rejects when the input ends", async () => {
    const { terminal } = typing("acme");
    await expect(askForMissing({}, terminal, never)).rejects.toMatchObject({ name: "AbortError" });
  });
});
