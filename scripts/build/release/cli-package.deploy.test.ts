import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleProgram } from "../bundle/bundle.ts";
import { capture, ROOT } from "../../lib/run.ts";
import { packCli } from "./cli-package.ts";
import { unpack } from "./pack.ts";

let directory: string;
let installed: string;

/** As npm installs it where there is no registry: it needs no other package. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "cli-package-"));
  const bundle = join(directory, "cloudwire");
  const links = ["cloudwire", "kubectl-cloudwire", "kubectl_complete-cloudwire"];
  await bundleProgram({ name: "cloudwire", source: "cli/src/main.ts", links }, bundle);
  const out = join(directory, "tarballs");
  await mkdir(out);
  const tarball = await packCli(bundle, { out, scratch: directory });
  installed = join(directory, "installed");
  await capture("npm", ["install", "--global", "--offline", "--silent", "--prefix", installed, tarball]);
  await unpack(tarball, directory);
}, 280_000);

afterAll(() => rm(directory, { recursive: true, force: true }));

const run = (name: string, ...args: readonly string[]): Promise<string> =>
  // The programs' first line asks for a Node of the path.
  capture("env", [`PATH=${dirname(process.execPath)}:${process.env["PATH"]}`, join(installed, "bin", name), ...args]);

describe("the npm package of the command line", () => {
  test("holds the program with the licenses of what is in it, and nothing of our own affairs", async () => {
    const entries = await readdir(join(directory, "package"), { withFileTypes: true, recursive: true });
    const files = entries
      .filter((entry) => !entry.isDirectory())
      .map(({ parentPath, name }) => join(parentPath, name).slice(join(directory, "package").length + 1));
    const fixed = files.filter((file) => !/^bin\/chunks\/|\.map$/.test(file)).toSorted();
    expect(fixed).toEqual([
      "LICENSE",
      "README.md",
      "bin/THIRD_PARTY_NOTICES.txt",
      "bin/THIRD_PARTY_PACKAGES.json",
      "bin/cloudwire.mjs",
      "bin/program.mjs",
      "package.json",
    ]);
  });

  test("needs no other package, and says which Node it needs", async () => {
    const manifest: Record<string, unknown> = JSON.parse(
      await readFile(join(directory, "package/package.json"), "utf8"),
    );
    const { engines }: Record<string, unknown> = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
    expect([manifest["private"], manifest["dependencies"], manifest["engines"]]).toEqual([
      undefined,
      undefined,
      engines,
    ]);
  });

  test("puts the program and kubectl's plug-in into the path", async () => {
    expect(await run("cloudwire", "version")).toMatch(/^cloudwire \d+\.\d+\.\d+/);
    expect(await run("kubectl-cloudwire", "explain", "--help")).toMatch(/^Usage: kubectl cloudwire explain/);
    expect(await run("kubectl_complete-cloudwire", "appr")).toBe("approve\n:4\n");
  });
});
