import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "./tools.ts";

interface LockedNpmPackage {
  readonly version: string;
  /** `sha512-` and the checksum in base64. */
  readonly integrity: string;
}

interface Lockfile {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly integrity?: string }>>;
}

/** What package-lock.json says of the package, in this version where it has several. */
export async function lockedPackage(name: string, version?: string): Promise<LockedNpmPackage> {
  const lockfile: Lockfile = JSON.parse(await readFile(join(ROOT, "package-lock.json"), "utf8"));
  for (const [path, locked] of Object.entries(lockfile.packages)) {
    if (path !== `node_modules/${name}` && !path.endsWith(`/node_modules/${name}`)) continue;
    if (locked.version === undefined || locked.integrity === undefined) continue;
    if (version === undefined || locked.version === version)
      return { version: locked.version, integrity: locked.integrity };
  }
  throw new Error(`package-lock.json has no ${name}${version === undefined ? "" : ` ${version}`}`);
}
