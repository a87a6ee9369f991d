// Whether node_modules is what package-lock.json asks for. Plain JavaScript: runs before any package is installed.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const LOCKFILE = "package-lock.json";

/**
 * The parts of a lockfile entry that this looks at.
 * @typedef {{ version?: string, link?: boolean, optional?: boolean, devOptional?: boolean }} LockedPackage
 * @typedef {Readonly<Record<string, LockedPackage>>} LockedPackages
 */

/**
 * Whether `npm ci` has nothing to do: it was run for this very lockfile, or an install by hand has left what it asks for.
 * @param {string} root
 */
export function isInstalled(root) {
  const installed = packagesOf(join(root, "node_modules", ".package-lock.json"));
  if (installed === undefined) return false;
  if (readIfThere(markerFile(root)) === lockfileDigest(root)) return true;
  const locked = packagesOf(join(root, LOCKFILE));
  if (locked === undefined) throw new Error(`${join(root, LOCKFILE)} is missing: is the clone complete?`);
  return differences(locked, installed).length === 0;
}

/**
 * Remembers, inside node_modules, that the lockfile as it is now has been installed.
 * @param {string} root
 */
export function markInstalled(root) {
  writeFileSync(markerFile(root), lockfileDigest(root));
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

/** @param {string} root */
function markerFile(root) {
  return join(root, "node_modules", ".cloudwire-installed");
}

/** @param {string} root */
function lockfileDigest(root) {
  return createHash("sha256")
    .update(readIfThere(join(root, LOCKFILE)) ?? "")
    .digest("hex");
}

/**
 * @param {string} file
 * @returns {LockedPackages | undefined}
 */
function packagesOf(file) {
  const text = readIfThere(file);
  return text === undefined ? undefined : JSON.parse(text).packages;
}

/** @param {string} file */
function readIfThere(file) {
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
