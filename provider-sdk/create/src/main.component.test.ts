import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";

const program = fileURLToPath(new URL("main.ts", import.meta.url));

/** Runs the program in an empty directory, with an input that is no terminal and never ends. */
const create = async (...args: readonly string[]) => {
  const cwd = await mkdtemp(join(tmpdir(), "create-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const ended = await new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, ["--conditions=development", program, ...args], { cwd }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });
  return { ...ended, made: await readdir(cwd) };
};

describe("create-provider", () => {
  it("makes a project and says what to type next", async () => {
    const { code, stdout, stderr, made } = await create("acme-provider", "--language=python");
    expect({ code, stderr, made }).toEqual({ code: 0, stderr: "", made: ["acme-provider"] });
    expect(stdout).toContain("  cd acme-provider\n");
  });

  it("asks nothing and reports what is missing when it has no terminal", async () => {
    expect(await create()).toEqual({
      code: 2,
      stdout: "",
      stderr: [
        "create-provider: a name is missing: npm create @cloudwire/provider my-provider -- --language go",
        "create-provider: --language is missing: one of typescript, go, python",
        "",
      ].join("\n"),
      made: [],
    });
  });

  it("reports all problems together when the syntax, the answers and the directories are wrong", async () => {
    const { code, stderr, made } = await create("A", "--language=go", "--lang", "--dir=/", "--sdk=nowhere");
    expect({ code, made }).toEqual({ code: 2, made: [] });
    expect(stderr.trim().split("\n")).toEqual([
      expect.stringContaining("--lang: no such option"),
      expect.stringContaining('name "A"'),
      expect.stringContaining('directory "/": is not empty'),
      expect.stringContaining('--sdk "nowhere": is not a checkout'),
    ]);
  });

  it("prints its usage and its version", async () => {
    expect(await create("--help")).toMatchObject({ code: 0, stdout: expect.stringContaining("--language LANGUAGE") });
    expect(await create("--version")).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});
