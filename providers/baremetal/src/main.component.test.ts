import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "baremetal-"));
});
afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

const run = async (...args: readonly string[]): Promise<readonly [unknown, string]> =>
  new Promise((resolve) => {
    const main = fileURLToPath(new URL("main.ts", import.meta.url));
    execFile(process.execPath, ["--conditions=development", main, ...args], (error, stdout, stderr) => {
      resolve([error === null ? 0 : error.code, (stdout + stderr).replaceAll(directory, "")]);
    });
  });

const name = "cloudwire-provider-baremetal";
test.each([
  [
    "no configuration",
    "",
    [],
    78,
    `${name}: give --config, the path of the configuration file (--help lists all options)\n`,
  ],
  [
    "a wrong one",
    "site: s\n",
    ["--config=FILE"],
    78,
    `${name}: /config.yaml: the document: must have required properties stateDir\n`,
  ],
  [
    "a good one",
    "site: s\nstateDir: /s\ninventory: { path: /m }\n",
    ["--config=FILE", "--check"],
    0,
    "/config.yaml is good\n",
  ],
])("the program says in plain lines what becomes of %s", async (_, text, args, code, said) => {
  const path = join(directory, "config.yaml");
  await writeFile(path, text);
  expect(await run(...args.map((arg) => arg.replace("FILE", path)))).toEqual([code, said]);
});
