import { copyFile, cp, mkdir, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { preparePython, PYTHON_SDK } from "../../suites/foreign-suites.ts";
import { capture, ROOT } from "../../lib/run.ts";
import { UserError } from "../../lib/user-error.ts";
import type { PackOptions } from "./pack.ts";

/** What the distribution is made of. */
const PARTS = ["pyproject.toml", "README.md", "src", "tests"];
const LEFT_OUT = new Set(["__pycache__"]);

/** The SDK for Python as it is published: a wheel, and its sources. Answers the paths. */
export async function packPython({ out, scratch }: Omit<PackOptions, "source">): Promise<readonly string[]> {
  const missing = await preparePython();
  if (missing !== undefined) throw new UserError(`the SDK for Python cannot be packed: ${missing}`);
  const stage = join(scratch, "python");
  await mkdir(stage, { recursive: true });
  const filter = (path: string): boolean => !LEFT_OUT.has(basename(path));
  for (const part of PARTS) await cp(join(ROOT, PYTHON_SDK, part), join(stage, part), { recursive: true, filter });
  await copyFile(join(ROOT, "LICENSE"), join(stage, "LICENSE"));
  const python = join(ROOT, PYTHON_SDK, ".venv/bin/python");
  // The tools are those of the environment, which are pinned.
  await capture(python, ["-m", "build", "--no-isolation", "--outdir", out, stage]);
  return (await readdir(out))
    .filter((name) => name.startsWith("cloudwire_provider_sdk-"))
    .map((name) => join(out, name));
}
