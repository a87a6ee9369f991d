import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PYTHON_SDK } from "../../suites/foreign-suites.ts";
import { capture, ROOT } from "../../lib/run.ts";
import { packPython } from "./pack-python.ts";

const PYTHON = join(ROOT, PYTHON_SDK, ".venv/bin/python");
const BUILT_MS = 280_000;

let directory: string;
let wheel: string;
let sources: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "wheel-"));
  const out = join(directory, "out");
  await mkdir(out);
  const files = await packPython({ out, scratch: join(directory, "scratch") });
  wheel = files.find((file) => file.endsWith("-py3-none-any.whl")) ?? "";
  sources = files.find((file) => file.endsWith(".tar.gz")) ?? "";
}, BUILT_MS);
afterAll(() => rm(directory, { recursive: true, force: true }));

test("the wheel has the package with its types, the license, and no tests", async () => {
  const listed = await capture(PYTHON, ["-m", "zipfile", "--list", wheel]);
  expect(listed).toMatch(/^cloudwire_provider\/py\.typed /m);
  expect(listed).toMatch(/^cloudwire_provider_sdk-[\d.]+\.dist-info\/licenses\/LICENSE /m);
  expect(listed).not.toMatch(/tests|__pycache__|\.pyc/);
});

test("the sources have what they are built and tested with", async () => {
  const listed = (await capture("tar", ["-tzf", sources])).replaceAll(/^[^/]+\//gm, "");
  expect(listed.split("\n")).toEqual(expect.arrayContaining(["LICENSE", "README.md", "pyproject.toml", "PKG-INFO"]));
  expect(listed).toMatch(/^tests\/.*\.py$/m);
});

test("what is installed of the wheel can be imported, and has the version of everything", async () => {
  const target = join(directory, "installed");
  const pip = ["-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-deps", "--no-index"];
  await capture(PYTHON, [...pip, "--target", target, wheel]);
  const script = `import sys; sys.path.insert(0, sys.argv[1])
import cloudwire_provider
from importlib.metadata import version
assert cloudwire_provider.__file__.startswith(sys.argv[1]), cloudwire_provider.__file__
print(version("cloudwire-provider-sdk"))`;
  const manifest: { readonly version: string } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  expect((await capture(PYTHON, ["-c", script, target])).trim()).toBe(manifest.version);
});
