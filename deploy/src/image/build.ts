import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import type { DebianPackage } from "./debian/deb.ts";
import { type GroupName, GROUPS } from "./groups.ts";
import { addPlatform, bundleEntries, type Foundation, labelsOf, type Release } from "./image.ts";
import type { ImageSource } from "./images.ts";
import { makeLayer } from "./layer.ts";
import { type Descriptor, Layout } from "./layout.ts";
import { type Lock, type LockedPackage, lockNewest, openLocked } from "./debian/lock.ts";
import { nodeEntries } from "./node.ts";
import type { Platform } from "./platforms.ts";
import { ROOT_FILES } from "./rootfs.ts";
import { selectFiles } from "./debian/select.ts";
import { snapshotSources } from "./debian/snapshot.ts";
import { BuildError, outputOf, ROOT } from "./tools.ts";

export interface BuildOptions {
  readonly images: readonly ImageSource[];
  readonly platforms: readonly Platform[];
  readonly lock: Lock;
  /** The archive of Debian's past, for what is locked and has been replaced. */
  readonly snapshots: string;
  readonly release: Release;
  /** Where the layout goes. */
  readonly directory: string;
  readonly log: (line: string) => void;
}

/** Builds the images into one layout, each under `<name>:<version>`. */
export async function buildImages(options: BuildOptions): Promise<void> {
  const { images, platforms, release, directory, log } = options;
  await mkdir(dirname(directory), { recursive: true });
  // Always as deep in the tree: maps name the sources relative to where they are themselves.
  const bundles = join(ROOT, `deploy/dist/bundles.${process.pid}`);
  const layout = await Layout.create(directory);
  try {
    const bundling = makeBundles(bundles);
    const foundations = new Map<Platform, Foundations>();
    for (const platform of platforms) {
      log(`packages and Node for ${platform.architecture} …`);
      foundations.set(platform, await makeFoundations(platform, needsOf(images), options));
    }
    await bundling;
    for (const image of images) {
      const bundle = await bundleEntries(join(bundles, image.name));
      const manifests: Descriptor[] = [];
      for (const [platform, { base, withNeeds }] of foundations)
        manifests.push(await addPlatform(layout, image, platform, withNeeds.get(image.needs) ?? base, bundle, release));
      const reference = `${image.name}:${release.version}`;
      log(`${reference} ${await layout.addImage(reference, manifests, labelsOf(image, release))}`);
    }
    await layout.complete();
  } finally {
    await layout.discard();
    await rm(bundles, { recursive: true, force: true });
  }
}

/** Programs as they are shipped. */
async function makeBundles(directory: string): Promise<void> {
  const script = join(ROOT, "scripts/build/bundle/main.ts");
  await outputOf(process.execPath, ["--conditions=development", script, `--out=${directory}`]);
}

interface Foundations {
  readonly base: Foundation;
  readonly withNeeds: ReadonlyMap<GroupName | undefined, Foundation>;
}

function needsOf(images: readonly ImageSource[]): ReadonlySet<GroupName> {
  return new Set(images.flatMap(({ needs }) => needs ?? []));
}

async function makeFoundations(
  { architecture, nodePackage }: Platform,
  needs: ReadonlySet<GroupName>,
  { lock, snapshots, release: { modified } }: BuildOptions,
): Promise<Foundations> {
  const locked = (group: GroupName) => lock.packages[group]?.[architecture] ?? [];
  const past = snapshotSources(snapshots, lock.lockedAt);
  // Before Node: a process that holds much is slow to start others.
  const packages = await openLocked(architecture, locked("base"), past);
  const ofGroups = new Map<GroupName, readonly DebianPackage[]>();
  for (const group of needs) ofGroups.set(group, await openLocked(architecture, locked(group), past));
  const node = await nodeEntries(nodePackage);
  const under = selectFiles(GROUPS.base, packages, node);
  const entries = [...ROOT_FILES, ...node, ...under.entries];
  const base: Foundation = {
    layers: [await makeLayer(entries, modified, `Node, and what it needs of Debian, for ${architecture}`)],
    packages: under.packages,
    locked: locked("base"),
  };
  const withNeeds = new Map<GroupName, Foundation>();
  for (const [group, ofGroup] of ofGroups) {
    const more = selectFiles(GROUPS[group], [...packages, ...ofGroup], entries);
    withNeeds.set(group, {
      layers: [
        ...base.layers,
        await makeLayer(more.entries, modified, `${GROUPS[group].packages.join(", ")} of Debian`),
      ],
      packages: [...base.packages, ...more.packages],
      locked: [...base.locked, ...locked(group)],
    });
  }
  return { base, withNeeds };
}

/** The newest versions of Debian's packages: those alone that something is taken of. */
export async function newestLock(platforms: readonly Platform[]): Promise<Lock> {
  const lockedAt = { suite: await debianSuite(), time: new Date().toISOString() };
  const base: Record<string, readonly LockedPackage[]> = {};
  const gateway: Record<string, readonly LockedPackage[]> = {};
  for (const { architecture, nodePackage } of platforms) {
    const node = await nodeEntries(nodePackage);
    const all = await lockNewest(
      architecture,
      Object.values(GROUPS).flatMap(({ packages }) => packages),
    );
    // All in the cache by now.
    const packages = await openLocked(architecture, all, "");
    const under = selectFiles(GROUPS.base, packages, node);
    const more = selectFiles(GROUPS.gateway, packages, [...node, ...under.entries]);
    base[architecture] = all.filter(({ name }) => under.packages.some((one) => one.name === name));
    gateway[architecture] = all.filter(({ name }) => more.packages.some((one) => one.name === name));
  }
  return { lockedAt, packages: { base, gateway } };
}

/** Of this machine: it is from there that packages are locked. */
async function debianSuite(): Promise<string> {
  const text = await readFile("/etc/os-release", "utf8").catch(() => "");
  const suite = /^VERSION_CODENAME=(\w+)$/m.exec(text)?.[1];
  if (suite === undefined || !/^ID=debian$/m.test(text))
    throw new BuildError("packages are locked on a machine with Debian, whose release /etc/os-release names");
  return suite;
}
