import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { DebianPackage } from "./debian/deb.ts";
import { type Entry, textFile } from "./entry.ts";
import { NODE } from "./groups.ts";
import type { ImageSource } from "./images.ts";
import { type Layer, makeLayer } from "./layer.ts";
import type { Descriptor, Layout } from "./layout.ts";
import type { LockedPackage } from "./debian/lock.ts";
import { lockedPackage } from "./lockfile.ts";
import type { Platform } from "./platforms.ts";
import { PROGRAM_DIRECTORY, SOCKET_DIRECTORY } from "./rootfs.ts";
import { type Component, spdxDocument } from "./sbom.ts";

const LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";
const CONFIG = "application/vnd.oci.image.config.v1+json";
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";

/** What is the same for all images of a build. */
export interface Release {
  readonly version: string;
  /** Time of everything in the images. */
  readonly modified: Date;
  /** Of the sources, where they are a commit. */
  readonly revision?: string;
  /** Where the sources are. */
  readonly sourceUrl?: string;
}

/** Layers that images share, and what they are made of. */
export interface Foundation {
  readonly layers: readonly Layer[];
  readonly packages: readonly DebianPackage[];
  readonly locked: readonly LockedPackage[];
}

/** The image for one platform, in the layout. */
export async function addPlatform(
  layout: Layout,
  image: ImageSource,
  platform: Platform,
  { layers, ...parts }: Foundation,
  bundle: readonly Entry[],
  release: Release,
): Promise<Descriptor> {
  const { architecture, variant } = platform;
  const components = [
    ...(await nodeComponent(platform)),
    ...debianComponents(platform, parts),
    ...(await npmComponents(bundle)),
  ];
  const self = {
    name: image.name,
    version: release.version,
    license: "Apache-2.0",
    purl: purlOf(image, release, platform),
  };
  const sbom = spdxDocument(self, components, release.modified);
  const owner = { uid: image.userId, gid: image.userId };
  const own: readonly Entry[] = [
    ...bundle,
    textFile(`usr/share/sbom/${image.name}.spdx.json`, sbom),
    // A volume that is mounted there takes its owner over, under podman and others.
    { kind: "directory", path: SOCKET_DIRECTORY, mode: 0o755, owner },
  ];
  const all = [...layers, await makeLayer(own, release.modified, `${image.name} ${release.version}`)];
  const created = release.modified.toISOString();
  const config = await layout.addJson(CONFIG, {
    created,
    architecture,
    ...(variant && { variant }),
    os: "linux",
    config: settingsOf(image, labelsOf(image, release)),
    rootfs: { type: "layers", diff_ids: all.map(({ diffId }) => diffId) },
    history: all.map(({ summary }) => ({ created, created_by: "npm run images", comment: summary })),
  });
  const blobs = await Promise.all(all.map(({ blob }) => layout.addBlob(LAYER, blob)));
  const manifest = await layout.addJson(MANIFEST, {
    schemaVersion: 2,
    mediaType: MANIFEST,
    config,
    layers: blobs,
    annotations: labelsOf(image, release),
  });
  return { ...manifest, platform: { architecture, os: "linux", ...(variant && { variant }) } };
}

export function labelsOf(image: ImageSource, release: Release): Readonly<Record<string, string>> {
  const labels = {
    title: image.title,
    description: image.description,
    version: release.version,
    created: release.modified.toISOString(),
    licenses: "Apache-2.0",
    ...(release.revision && { revision: release.revision }),
    ...(release.sourceUrl && { source: release.sourceUrl }),
  };
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [`org.opencontainers.image.${name}`, value]));
}

function settingsOf({ name, userId, ports = [] }: ImageSource, labels: Readonly<Record<string, string>>): object {
  return {
    User: `${userId}:${userId}`,
    Env: ["PATH=/usr/local/bin:/usr/sbin:/usr/bin"],
    // Through the launcher: the settings of its process come from there.
    Entrypoint: [`/${NODE}`, `/${PROGRAM_DIRECTORY}/${name}.mjs`],
    WorkingDir: "/",
    StopSignal: "SIGTERM",
    Labels: labels,
    ...(ports.length > 0 && { ExposedPorts: Object.fromEntries(ports.map((port) => [port, {}])) }),
  };
}

/** The directory that `npm run build` made for the program, as it is in an image. Links would lead out of it. */
export async function bundleEntries(directory: string, path: string = PROGRAM_DIRECTORY): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (const name of (await readdir(directory)).toSorted()) {
    const file = join(directory, name);
    const stats = await lstat(file);
    if (stats.isDirectory()) entries.push(...(await bundleEntries(file, `${path}/${name}`)));
    if (stats.isFile())
      entries.push({
        kind: "file",
        path: `${path}/${name}`,
        content: await readFile(file),
        mode: (stats.mode & 0o100) === 0 ? 0o644 : 0o755,
      });
  }
  return entries;
}

function purlOf({ name }: ImageSource, { version }: Release, { architecture }: Platform): string {
  return `pkg:generic/${name}@${version}?arch=${architecture}`;
}

async function nodeComponent({ nodePackage }: Platform): Promise<readonly Component[]> {
  const { version, integrity } = await lockedPackage(nodePackage);
  return [
    { name: "node", version, license: "MIT", purl: `pkg:generic/node@${version}`, checksum: checksumOf(integrity) },
  ];
}

function debianComponents(
  { architecture }: Platform,
  { packages, locked }: Omit<Foundation, "layers">,
): readonly Component[] {
  return packages.map(({ name, version }) => {
    const value = locked.find((one) => one.name === name)?.sha256;
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`;
    return { name, version, purl, ...(value && { checksum: { algorithm: "SHA256", value } as const }) };
  });
}

async function npmComponents(bundle: readonly Entry[]): Promise<readonly Component[]> {
  const list = bundle.find(({ path }) => path.endsWith("/THIRD_PARTY_PACKAGES.json"));
  if (list?.kind !== "file") throw new Error("the bundle has no THIRD_PARTY_PACKAGES.json: build it again");
  const packages: readonly { readonly name: string; readonly version: string; readonly license: string }[] = JSON.parse(
    list.content.toString(),
  );
  return Promise.all(
    packages.map(async ({ name, version, license }) => {
      const { integrity } = await lockedPackage(name, version);
      const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
      return { name, version, license: license, purl, checksum: checksumOf(integrity) };
    }),
  );
}

function checksumOf(integrity: string): NonNullable<Component["checksum"]> {
  return { algorithm: "SHA512", value: Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex") };
}
