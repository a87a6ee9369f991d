import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT, run } from "../lib/run.ts";

/** A Python environment is made by this file's means; a change of them recreates each of them. */
const VENV_FORMAT = 1;

/** How everything in Go is compiled, tests too, so that no module is compiled twice. */
export const GO_BUILD = { args: ["-trimpath"], env: { CGO_ENABLED: "0" } } as const;

/**
 * Makes `<directory>/.venv` from `<directory>/requirements.txt`, unless the one there is of the same file and Python, and puts the package of
 * the directory into it, where there is one. Answers why that cannot be done here, or nothing when it is ready.
 */
export async function prepareVenv(directory: string): Promise<string | undefined> {
  const version = await versionOf("python3", ["--version"]);
  if (version === undefined) return "python3 is not installed";
  const requirements = await readFile(join(ROOT, directory, "requirements.txt"), "utf8");
  const digest = createHash("sha256")
    .update(JSON.stringify([VENV_FORMAT, version, requirements]))
    .digest("hex");
  const hashFile = join(ROOT, directory, ".venv", "requirements.sha256");
  if ((await readFile(hashFile, "utf8").catch(() => "")) === digest) return undefined;
  console.log(`\nInstalling the Python packages of ${directory} …`);
  const pip = [".venv/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check", "install"];
  const hasPackage = (await readFile(join(ROOT, directory, "pyproject.toml")).catch(() => undefined)) !== undefined;
  const steps = [
    ["python3", "-m", "venv", "--clear", ".venv"],
    [...pip, "-r", "requirements.txt"],
    ...(hasPackage ? [[...pip, "--no-deps", "--editable", "."]] : []),
  ];
  for (const [command = "", ...args] of steps) {
    const { code } = await run(command, args, { cwd: directory, output: "show" });
    if (code !== 0) return `\`${[command, ...args].join(" ")}\` failed in ${directory} (exit ${code}, see above)`;
  }
  await writeFile(hashFile, digest);
  return undefined;
}

/** Whether Go is there; answers what is missing. */
export async function findGo(): Promise<string | undefined> {
  return (await versionOf("go", ["version"])) === undefined ? "go is not installed" : undefined;
}

/** Builds a program, that of a Go module's top directory by default, as `<directory>/bin/<name>`. Answers why that cannot be done here. */
export async function prepareGoProgram(
  directory: string,
  name: string,
  flags: readonly string[] = [],
  source = ".",
): Promise<string | undefined> {
  const missing = await findGo();
  if (missing !== undefined) return missing;
  const args = ["build", ...GO_BUILD.args, ...flags, "-o", join("bin", name), source];
  const { code } = await run("go", args, { cwd: directory, output: "show", env: GO_BUILD.env });
  return code === 0 ? undefined : `\`go build\` failed in ${directory} (exit ${code}, see above)`;
}

async function versionOf(command: string, args: readonly string[]): Promise<string | undefined> {
  const answer = await run(command, args, { output: "keep" }).catch(() => undefined);
  return answer?.code === 0 ? answer.output.trim() : undefined;
}
