import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import type { Choices } from "./choices.ts";
import { createProject } from "./create-project.ts";
import { languages } from "./language.ts";

const temporaryDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "create-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
};

const choices = (given: Partial<Choices> = {}): Choices => ({
  name: "zeta",
  language: "typescript",
  domain: "zeta.example.org",
  idPrefix: "zeta",
  dir: "zeta",
  sdk: undefined,
  ...given,
});

const signal = new AbortController().signal;

describe("createProject", () => {
  test.each(languages)("leaves nothing of the template's vendor in a project in %s", async (language) => {
    const cwd = await temporaryDirectory();
    const directory = await createProject(choices({ language }), { cwd, signal });
    const paths = await readdir(directory, { recursive: true, withFileTypes: true });
    const files = paths.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    const texts = await Promise.all(files.map(async (file) => `${file}\n${await readFile(file, "utf8")}`));
    expect(files.length).toBeGreaterThan(8);
    expect(texts.filter((text) => /acme[-_]provider|acme:\/\/|acme\.example/.test(text))).toEqual([]);
    expect(await readdir(directory)).toEqual(
      expect.arrayContaining([".gitignore", "Dockerfile", "README.md", "deploy"]),
    );
    expect(await readdir(cwd)).toEqual(["zeta"]);
  });

  it("takes an empty directory, and one whose parents are not there yet", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "empty"));
    expect(await createProject(choices({ dir: "empty" }), { cwd, signal })).toBe(join(cwd, "empty"));
    expect(await createProject(choices({ dir: "a/b/c" }), { cwd, signal })).toBe(join(cwd, "a/b/c"));
    expect(await readdir(join(cwd, "empty"))).toContain("package.json");
  });

  it("makes a directory as open to others as any", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "any"));
    const directory = await createProject(choices(), { cwd, signal });
    expect((await stat(directory)).mode).toBe((await stat(join(cwd, "any"))).mode);
  });

  it("refuses a directory that is not empty, leaves it unchanged, and reports it with the other problems", async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, "full"));
    await writeFile(join(cwd, "full", "mine"), "");
    await expect(createProject(choices({ dir: "full", sdk: "nowhere" }), { cwd, signal })).rejects.toMatchObject({
      problems: [expect.stringContaining('directory "full"'), expect.stringContaining('--sdk "nowhere"')],
    });
    expect(await readdir(cwd, { recursive: true })).toEqual(["full", "full/mine"]);
  });

  it("refuses a file in the place of the directory", async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, "zeta"), "");
    await expect(createProject(choices(), { cwd, signal })).rejects.toMatchObject({
      problems: [expect.stringContaining("a file is in its place")],
    });
  });

  it("leaves nothing behind when it is ended", async () => {
    const cwd = await temporaryDirectory();
    await expect(createProject(choices(), { cwd, signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(await readdir(cwd)).toEqual([]);
  });
});
