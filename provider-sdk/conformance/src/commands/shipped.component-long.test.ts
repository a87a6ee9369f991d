import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { serveReference } from "../reference/provider.ts";

const exec = promisify(execFile);
const kit = join(import.meta.dirname, "..", "..");
const buildMs = 240_000;
/** Builds share the machine: what is slow then is no fault of the provider. */
const run = ["run", "--profile", "core", "--slow-factor", "5"];

let reference: Awaited<ReturnType<typeof serveReference>>;
beforeAll(async () => {
  reference = await serveReference();
});
afterAll(() => reference.close());

const made = async (what: "package" | "executable"): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "conformance-shipped-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const out = join(directory, what);
  await exec("npm", ["run", "--silent", `build:${what}`, "--", "--out", out], { cwd: kit });
  return out;
};

test(
  "the package's tarball is all that npx needs",
  async () => {
    const directory = await made("package");
    await exec("npm", ["pack", "--silent"], { cwd: directory });
    const tarball = (await readdir(directory)).find((name) => name.endsWith(".tgz")) ?? "";
    // A directory of its own, so that nothing of the checkout is found, and a cache of its own, so that nothing is left.
    const elsewhere = await mkdtemp(join(tmpdir(), "conformance-npx-"));
    onTestFinished(() => rm(elsewhere, { recursive: true, force: true }));
    const npx = ["--yes", "--offline", "--cache", join(elsewhere, "cache"), "--package", join(directory, tarball)];
    const args = ["cloudwire-conformance", ...run, "--endpoint", reference.endpoint];
    const { stdout } = await exec("npx", [...npx, "--", ...args], { cwd: elsewhere });
    expect(stdout).toMatch(/^core: conformant, \d+ passed\n/);
  },
  buildMs,
);

test(
  "the executable runs where there is no Node",
  async () => {
    const program = join(await made("executable"), "cloudwire-conformance");
    const args = [...run, "--endpoint", reference.endpoint];
    const { stdout, stderr } = await exec(program, args, { env: { PATH: "" } });
    expect(stdout).toMatch(/^core: conformant, \d+ passed\n/);
    expect(stderr).toBe("");
  },
  buildMs,
);
