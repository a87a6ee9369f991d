import { copyFile, cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../lib/run.ts";
import { type PackOptions, packStaged } from "./pack.ts";

const DIRECTORY = "cli";

/** What npm puts into the path: the program, kubectl's plug-in, and what completes that. */
const NAMES = ["cloudwire", "kubectl-cloudwire", "kubectl_complete-cloudwire"];

/**
 * Packs the command line for npm: its bundle, which needs no other package. Answers the tarball's path.
 * @param bundle directory of the bundled program
 */
export async function packCli(bundle: string, options: PackOptions): Promise<string> {
  const stage = join(options.scratch, "cli-package");
  // npm makes links of its own, and packs none.
  await cp(bundle, join(stage, "bin"), {
    recursive: true,
    filter: (path) => !NAMES.some((name) => path === join(bundle, name)),
  });
  await copyFile(join(ROOT, "LICENSE"), join(stage, "LICENSE"));
  await copyFile(join(ROOT, DIRECTORY, "README.md"), join(stage, "README.md"));
  const manifest: Record<string, unknown> = JSON.parse(await readFile(join(ROOT, DIRECTORY, "package.json"), "utf8"));
  const { name, version, description, license, type } = manifest;
  const bin = Object.fromEntries(NAMES.map((command) => [command, "bin/cloudwire.mjs"]));
  const packed = { name, version, description, license, type, bin };
  await writeFile(join(stage, "package.json"), `${JSON.stringify(packed, undefined, 2)}\n`);
  return packStaged(stage, DIRECTORY, options);
}
