import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const SOURCES = join(ROOT, "provider-sdk/create");

const filesOf = async (directory: string): Promise<readonly string[]> =>
  (await readdir(directory, { recursive: true })).toSorted();

test("the packed generator makes, for each language, the project that its sources make", async () => {
  const directory = await mkdtemp(join(tmpdir(), "scaffold-packed-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await run("tsc", ["-b", SOURCES]);
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", directory], { cwd: SOURCES });
  const install = ["install", "--no-audit", "--no-fund", "--prefix", directory, join(directory, stdout.trim())];
  await run("npm", install, { cwd: directory });

  for (const language of ["typescript", "go", "python"]) {
    const [packed, unpacked] = [join(directory, `packed-${language}`), join(directory, `sources-${language}`)];
    const args = ["zeta", "--language", language, "--dir"];
    await run(join(directory, "node_modules/.bin/create-provider"), [...args, packed]);
    await run(process.execPath, ["--conditions=development", join(SOURCES, "src/main.ts"), ...args, unpacked]);
    expect(await filesOf(packed)).toEqual(await filesOf(unpacked));
    expect(await filesOf(packed)).toContain(".gitignore");
  }
}, 240_000);
