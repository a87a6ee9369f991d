import { createHash } from "node:crypto";
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Archive } from "./apt.ts";
import { type DebianPackage, fieldOf, readDebianPackage } from "./deb.ts";
import type { LockedAt } from "./snapshot.ts";
import { BuildError, outputOf, ROOT } from "../tools.ts";

/** A package of Debian's, to the byte. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
}

export interface Lock {
  readonly lockedAt: LockedAt;
  /** By group of packages, then by architecture. */
  readonly packages: Readonly<Record<string, Readonly<Record<string, readonly LockedPackage[]>>>>;
}

const LOCK_FILE = join(ROOT, "deploy/src/image/debian/debian-lock.json");
/** Packages by their checksum: a second build downloads nothing. */
const CACHE = join(ROOT, ".cache/images");

export async function readLock(): Promise<Lock> {
  const lock: Lock = JSON.parse(await readFile(LOCK_FILE, "utf8"));
  return lock;
}

export async function writeLock(lock: Lock): Promise<void> {
  await writeFile(LOCK_FILE, `${JSON.stringify(lock, undefined, 2)}\n`);
}

export function cached(sha256: string): string {
  return join(CACHE, sha256);
}

/**
 * The locked packages, from the cache or out of Debian's archive.
 *
 * @param past sources of the archive as it was when they were locked
 */
export async function openLocked(
  architecture: string,
  locked: readonly LockedPackage[],
  past: string,
): Promise<readonly DebianPackage[]> {
  const missing: LockedPackage[] = [];
  for (const one of locked) if ((await sha256Of(cached(one.sha256))) !== one.sha256) missing.push(one);
  if (missing.length > 0) await fetchLocked(architecture, missing, past);
  return Promise.all(locked.map(({ sha256 }) => readDebianPackage(cached(sha256))));
}

/** From this machine's sources, or else from the archive of the past: Debian keeps no package that it has replaced. */
async function fetchLocked(architecture: string, missing: readonly LockedPackage[], past: string): Promise<void> {
  const complaints: string[] = [];
  for (const sources of [undefined, past]) {
    try {
      await using archive = await Archive.open(architecture, sources);
      checkFetched(missing, await fetchPackages(archive, missing));
      return;
    } catch (error) {
      if (!(error instanceof BuildError) || error instanceof ForgedError) throw error;
      complaints.push(error.message);
    }
  }
  throw new BuildError(
    [
      `not all locked packages for ${architecture} can be had: Debian has replaced some since, and its archive of the past has not answered.`,
      "  npm run images -- --update-lock    takes the newest versions: commit deploy/src/image/debian/debian-lock.json then",
      "  npm run images -- --snapshots=URL  asks another archive of the past",
      ...complaints,
    ].join("\n"),
  );
}

/** Retrying with another archive does not help. */
class ForgedError extends BuildError {}

function checkFetched(wanted: readonly LockedPackage[], fetched: readonly LockedPackage[]): void {
  const absent = wanted.filter(({ sha256 }) => !fetched.some((one) => one.sha256 === sha256));
  if (absent.length > 0)
    throw new ForgedError(
      `Debian's archive has other files than the locked ones for ${absent.map(({ name }) => name).join(", ")}: build nothing of them before you know why`,
    );
}

/** The newest versions of the packages and of all that they depend on. */
export async function lockNewest(architecture: string, names: readonly string[]): Promise<readonly LockedPackage[]> {
  await using archive = await Archive.open(architecture);
  const newest = await fetchPackages(archive, await archive.resolve(names));
  return newest;
}

async function fetchPackages(
  archive: Archive,
  wanted: Parameters<Archive["download"]>[0],
): Promise<readonly LockedPackage[]> {
  await mkdir(CACHE, { recursive: true });
  const directory = await mkdtemp(join(tmpdir(), "cloudwire-packages-"));
  try {
    const fetched: LockedPackage[] = [];
    for (const file of await archive.download(wanted, directory)) {
      const sha256 = (await sha256Of(file)) ?? "";
      await keep(file, sha256);
      const control = await outputOf("dpkg-deb", ["--field", file]);
      fetched.push({ name: fieldOf(control, "Package"), version: fieldOf(control, "Version"), sha256 });
    }
    return fetched.toSorted((left, right) => (left.name < right.name ? -1 : 1));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Atomic: several builds may run at the same time. */
async function keep(file: string, sha256: string): Promise<void> {
  const fresh = `${cached(sha256)}.${process.pid}`;
  await copyFile(file, fresh);
  await rename(fresh, cached(sha256));
}

async function sha256Of(file: string): Promise<string | undefined> {
  const content = await readFile(file).catch(() => undefined);
  return content && createHash("sha256").update(content).digest("hex");
}
