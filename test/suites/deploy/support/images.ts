import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { at, type Json, listOf } from "../../../support/kube.ts";

const ROOT = new URL("../../../../", import.meta.url);
const SCRIPT = fileURLToPath(new URL("deploy/src/image/main.ts", ROOT));
/** Of everything in the images: they do not depend on what else is committed meanwhile. */
const SOURCE_DATE_EPOCH = "1700000000";
/** Of this machine, in the image format's words. */
export const ARCHITECTURE: string = process.arch === "x64" ? "amd64" : process.arch;
const { version }: { readonly version: string } = JSON.parse(readFileSync(new URL("package.json", ROOT), "utf8"));
/** The tag of each image. */
export const VERSION: string = version;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** What the program printed; an error with what it complained of when it fails. */
export async function outputOf(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, {
    maxBuffer: MAX_OUTPUT_BYTES,
    env: { ...process.env, ...env },
  });
  return stdout;
}

/** Builds images as `npm run images` does, into the directory: of the locked packages, and of the newest where Debian has replaced those. */
export async function buildImages(directory: string, ...args: readonly string[]): Promise<void> {
  const build = async (...more: readonly string[]): Promise<string> =>
    outputOf(process.execPath, ["--conditions=development", SCRIPT, `--out=${directory}`, ...args, ...more], {
      SOURCE_DATE_EPOCH,
    });
  try {
    await build();
  } catch (error) {
    if (!String(error).includes("--update-lock")) throw error;
    await build("--debian=newest");
  }
}

/** Likewise, for this machine alone. */
export async function buildOwnImages(directory: string, ...names: readonly string[]): Promise<void> {
  await buildImages(directory, ...names, `--platform=linux/${ARCHITECTURE}`);
}

/** A manifest of an image for one platform, with what it refers to. */
export interface PlatformImage {
  /** `cloudwire-controller-manager:0.1.0`. */
  readonly reference: string;
  readonly platform: string;
  readonly digest: string;
  readonly manifest: Json;
  readonly config: Json;
}

export async function readBlob(directory: string, digest: unknown): Promise<Buffer> {
  return readFile(blobPath(directory, digest));
}

export function blobPath(directory: string, digest: unknown): string {
  return join(directory, "blobs", String(digest).replace(":", "/"));
}

/** All images of a layout, for all platforms. */
export async function readImages(directory: string): Promise<readonly PlatformImage[]> {
  const json = async (digest: unknown): Promise<Json> => JSON.parse((await readBlob(directory, digest)).toString());
  const layout: unknown = JSON.parse(await readFile(join(directory, "index.json"), "utf8"));
  const images: PlatformImage[] = [];
  for (const image of listOf(at(layout, "manifests")))
    for (const { digest, platform } of listOf(at(await json(image["digest"]), "manifests"))) {
      const manifest = await json(digest);
      images.push({
        reference: String(at(image, "annotations", "org.opencontainers.image.ref.name")),
        platform: `${String(at(platform, "os"))}/${String(at(platform, "architecture"))}`,
        digest: String(digest),
        manifest,
        config: await json(at(manifest, "config", "digest")),
      });
    }
  return images;
}
