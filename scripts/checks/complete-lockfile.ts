// After a change of dependencies: puts into package-lock.json the platform packages that npm left out (see lockfile.ts).
//   npm run lockfile               writes them
//   npm run lockfile -- --check    only says which are missing
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { type LockedPackages, missingPlatformPackages } from "./lockfile.ts";
import { ROOT } from "../lib/run.ts";

const file = join(ROOT, "package-lock.json");
const lockfile: { packages: LockedPackages } = JSON.parse(await readFile(file, "utf8"));
const missing = missingPlatformPackages(lockfile.packages);
const paths = Object.keys(missing);
if (process.argv.includes("--check")) {
  for (const path of paths) console.log(`package-lock.json lacks ${path}`);
  process.exitCode = paths.length === 0 ? 0 : 1;
} else if (paths.length > 0) {
  const all = Object.entries({ ...lockfile.packages, ...missing });
  const packages = Object.fromEntries(all.toSorted(([a], [b]) => a.localeCompare(b, "en")));
  await writeFile(file, `${JSON.stringify({ ...lockfile, packages }, null, 2)}\n`);
  console.log(`package-lock.json: added ${paths.length} platform packages`);
}
