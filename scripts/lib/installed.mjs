// Whether node_modules is what package-lock.json asks for. Plain JavaScript: runs before any package is installed.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The parts of a lockfile entry that this looks at.
 * @typedef {{ version?: string, link?: boolean, optional?: boolean, devOptional?: boolean }} LockedPackage
 * @typedef {Readonly<Record<string, LockedPackage>>} LockedPackages
 */

/**
 * Lockfile paths that are not installed as locked; empty when `npm ci` has nothing to do.
 * @param {string} root
 */
export function missingPackages(root) {
  const locked = packagesOf(join(root, "package-lock.json"));
  if (locked === undefined) throw new Error(`${join(root, "package-lock.json")} is missing: is the clone complete?`);
  return differences(locked, packagesOf(join(root, "node_modules", ".package-lock.json")) ?? {});
}

/**
 * Compares the lockfile with the one npm writes into node_modules as the last act of an install: an interrupted install
 * leaves none. Optional packages may be missing, they are for other platforms.
 * @param {LockedPackages} locked
 * @param {LockedPackages} installed
 */
export function differences(locked, installed) {
  return Object.entries(locked)
    .filter(([path]) => path !== "")
    .filter(([path, want]) => {
      const have = installed[path];
      if (have === undefined) return want.optional !== true && want.devOptional !== true;
      return have.version !== want.version || have.link !== want.link;
    })
    .map(([path]) => path);
}

/**
 * @param {string} file
 * @returns {LockedPackages | undefined}
 */
function packagesOf(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")).packages : undefined;
}
