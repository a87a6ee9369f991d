import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readlink, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** A commit of the `main` branch, until there is a release. `CLOUDWIRE_OLD_VERSION` selects another commit or tag. */
const OLD_VERSION = "14c3d0bbb02986939de1b8cb0909e14490e416a5";

/** What the programs consist of. */
const PATHS = [
  "controller",
  "operator-api",
  "proto",
  "provider-sdk",
  "providers",
  "scripts/node-guard",
  "package.json",
  "tsconfig.base.json",
];
const runProgram = promisify(execFile);
const OWN_SCOPE = "@cloudwire";

/** The sources of an older version of the product, with the packages that are installed here. */
export interface OldVersion extends AsyncDisposable {
  readonly directory: string;
}

export async function checkOutOldVersion(): Promise<OldVersion> {
  const directory = await mkdtemp(join(tmpdir(), "old-version-"));
  const archive = `${directory}.tar`;
  await runProgram("git", ["archive", `--output=${archive}`, oldVersion(), ...PATHS], { cwd: ROOT });
  await runProgram("tar", ["--extract", `--file=${archive}`, `--directory=${directory}`]);
  await rm(archive);
  await linkPackages(directory);
  return { directory, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
}

function oldVersion(): string {
  return process.env["CLOUDWIRE_OLD_VERSION"] || OLD_VERSION;
}

/** Links to the packages of npm, and to the old version's own packages. */
async function linkPackages(directory: string): Promise<void> {
  const [from, to] = [join(ROOT, "node_modules"), join(directory, "node_modules")];
  await mkdir(join(to, OWN_SCOPE), { recursive: true });
  const others = (await readdir(from)).filter((name) => name !== OWN_SCOPE && !name.startsWith("."));
  for (const name of others) await symlink(join(from, name), join(to, name));
  // Relative links, such as ../../controller.
  for (const name of await readdir(join(from, OWN_SCOPE)))
    await symlink(await readlink(join(from, OWN_SCOPE, name)), join(to, OWN_SCOPE, name));
}
