// Builds the images, by the OCI image format, without a container engine (docs/decisions/0020).
//   npm run images                         all of them, for all platforms, in dist/images
//   npm run images -- controller aws       some
//   npm run images -- --help
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { buildImages, newestLock } from "./build.ts";
import { IMAGES, type ImageSource } from "./images.ts";
import { readLock, writeLock } from "./debian/lock.ts";
import { PLATFORMS, type Platform } from "./platforms.ts";
import { readRelease } from "./release.ts";
import { SNAPSHOTS } from "./debian/snapshot.ts";
import { BuildError, ROOT } from "./tools.ts";

const HELP = `Usage: npm run images -- [image …] [options]

Builds images by the OCI image format into one directory, each for linux/amd64 and linux/arm64.

  image              ${IMAGES.map(shortName).join(", ")}; default: all
  --out=DIR          Where they go. Default: dist/images
  --platform=P       linux/amd64 or linux/arm64; can be given twice. Default: both
  --debian=newest    Debian's packages in the newest versions instead of the locked ones
  --update-lock      Writes the newest versions to deploy/src/image/debian/debian-lock.json, and ends
  --snapshots=URL    Debian's archive of the past, for locked packages that it has replaced since.
                     Default: ${SNAPSHOTS}
  --source=URL       Where the sources are, for the label org.opencontainers.image.source
  --help             This text

SOURCE_DATE_EPOCH, in seconds, is the time of everything in the images; without it, the time of the commit.
`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      out: { type: "string", default: join(ROOT, "dist/images") },
      platform: { type: "string", multiple: true },
      debian: { type: "string", default: "locked" },
      "update-lock": { type: "boolean", default: false },
      snapshots: { type: "string", default: SNAPSHOTS },
      source: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return void process.stdout.write(HELP);
  if (values["update-lock"]) return writeLock(await newestLock(PLATFORMS));
  const platforms = wantedPlatforms(values.platform);
  await buildImages({
    images: wantedImages(positionals),
    platforms,
    lock: await lockFor(values.debian, platforms),
    snapshots: values.snapshots,
    release: await readRelease(process.env, values.source),
    directory: values.out,
    log: (line) => console.log(line),
  });
}

function shortName({ name }: ImageSource): string {
  return name.replace(/^cloudwire-(?:provider-)?|-manager$/g, "");
}

function wantedImages(names: readonly string[]): readonly ImageSource[] {
  const of = (name: string) => IMAGES.find((image) => image.name === name || shortName(image) === name);
  const unknown = names.filter((name) => of(name) === undefined);
  if (unknown.length > 0)
    throw new BuildError(`no image ${unknown.join(", ")}; there are: ${IMAGES.map(shortName).join(", ")}`);
  return names.length === 0 ? IMAGES : names.flatMap((name) => of(name) ?? []);
}

function wantedPlatforms(names: readonly string[] = []): readonly Platform[] {
  const known = PLATFORMS.map(({ architecture }) => `linux/${architecture}`);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new BuildError(`no platform ${unknown.join(", ")}; there are: ${known.join(", ")}`);
  return PLATFORMS.filter(({ architecture }) => names.length === 0 || names.includes(`linux/${architecture}`));
}

async function lockFor(debian: string, platforms: readonly Platform[]) {
  switch (debian) {
    case "locked":
      return readLock();
    case "newest":
      return newestLock(platforms);
    default:
      throw new BuildError(`--debian=${debian}: must be locked or newest`);
  }
}

try {
  await main();
} catch (error) {
  const isUsage = error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS_");
  if (!(error instanceof BuildError) && !isUsage) throw error;
  console.error(`images: ${error.message}`);
  process.exitCode = 2;
}
