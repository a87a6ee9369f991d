import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { capture, ROOT } from "../../lib/run.ts";
import { type Manifest, publishedManifest } from "./manifest.ts";

export interface PackOptions {
  /** Where tarballs go. */
  readonly out: string;
  /** A directory for what is made on the way. */
  readonly scratch: string;
  /** URL of the repository. */
  readonly source?: string;
}

/** Packs a library that is built, as it is published. Answers the tarball's path. */
export async function packLibrary(directory: string, { out, scratch, source }: PackOptions): Promise<string> {
  const stage = join(scratch, directory.replaceAll("/", "-"));
  await mkdir(stage, { recursive: true });
  await unpack(await npmPack(join(ROOT, directory), stage), stage);
  const staged = join(stage, "package");
  await copyFile(join(ROOT, "LICENSE"), join(staged, "LICENSE"));
  return packStaged(staged, directory, { out, scratch, ...(source === undefined ? {} : { source }) });
}

/** Packs a directory as the package of `directory`, its manifest as it is published. */
export async function packStaged(staged: string, directory: string, { out, source }: PackOptions): Promise<string> {
  const manifest = await readManifest(join(staged, "package.json"));
  const { engines } = await readManifest(join(ROOT, "package.json"));
  const origin = { directory, engines, ...(source === undefined ? {} : { source }) };
  await writeFile(
    join(staged, "package.json"),
    `${JSON.stringify(publishedManifest(manifest, origin), undefined, 2)}\n`,
  );
  return npmPack(staged, out);
}

/** The tarball's path. */
async function npmPack(directory: string, out: string): Promise<string> {
  const name = await capture("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", out, directory]);
  return join(out, basename(name.trim()));
}

export async function unpack(tarball: string, directory: string): Promise<void> {
  await capture("tar", ["-xzf", tarball, "-C", directory]);
}

async function readManifest(file: string): Promise<Manifest> {
  const manifest: Manifest = JSON.parse(await readFile(file, "utf8"));
  return manifest;
}
