import type { DebianPackage } from "./deb.ts";
import { type Entry, linkedPath, textFile } from "../entry.ts";
import type { PackageGroup } from "../groups.ts";
import { reachable } from "./reach.ts";

export interface Selection {
  readonly entries: readonly Entry[];
  /** The packages that something was taken of. */
  readonly packages: readonly DebianPackage[];
}

/** What the list of installed packages is in images without a package manager, one file a package: scanners look there. */
const STATUS_DIRECTORY = "var/lib/dpkg/status.d";
/** One file: an image has no program that links the certificates one by one. */
const CERTIFICATES = "etc/ssl/certs/ca-certificates.crt";
const ROOT_CERTIFICATE = /^usr\/share\/ca-certificates\/.*\.crt$/;

/**
 * The group's programs with all that they load, each package's license and its entry in the list of packages.
 * What is `given` is there already.
 */
export function selectFiles(
  group: PackageGroup,
  packages: readonly DebianPackage[],
  given: readonly Entry[],
): Selection {
  const there = new Set(given.map(({ path }) => path));
  const all = packages.flatMap(({ entries }) => entries).filter(({ path }) => !there.has(path));
  const certificates = there.has(CERTIFICATES) ? [] : all.filter(({ path }) => ROOT_CERTIFICATE.test(path));
  const wanted = new Set([
    ...reachable(group.programs, [...all, ...given]),
    ...all.map(({ path }) => path).filter((path) => group.files.some((start) => path.startsWith(start))),
    ...certificates.map(({ path }) => path),
  ]);
  // Each once: what is given may be of the same packages.
  const owners = () => ownersOf(wanted, packages).filter(({ name }) => !there.has(statusPath(name)));
  for (const { name } of owners()) for (const path of licensePaths(name, all)) wanted.add(path);
  const used = owners();
  const taken = all.filter((entry) => wanted.has(entry.path) && !certificates.includes(entry));
  const statuses = used.map(({ name, control }) => textFile(statusPath(name), control));
  return { entries: [...taken, ...bundled(certificates), ...statuses], packages: used };
}

function statusPath(name: string): string {
  return `${STATUS_DIRECTORY}/${name}`;
}

function ownersOf(paths: ReadonlySet<string>, packages: readonly DebianPackage[]): readonly DebianPackage[] {
  return packages
    .filter(({ entries }) => entries.some(({ path }) => paths.has(path)))
    .toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

/** The package's copyright file, which may be another's that it links to. */
function licensePaths(name: string, all: readonly Entry[]): readonly string[] {
  const directory = `usr/share/doc/${name}`;
  const linked = all.find((entry) => entry.kind === "link" && entry.path === directory);
  if (linked?.kind === "link") return [directory, `${linkedPath(linked)}/copyright`];
  const file = all.find(({ path }) => path === `${directory}/copyright`);
  if (file === undefined) throw new Error(`Debian's package ${name} has no copyright file: may it be shipped?`);
  return file.kind === "link" ? [file.path, linkedPath(file)] : [file.path];
}

function bundled(certificates: readonly Entry[]): readonly Entry[] {
  if (certificates.length === 0) return [];
  const texts = certificates
    .toSorted((left, right) => (left.path < right.path ? -1 : 1))
    .map((entry) => (entry.kind === "file" ? entry.content.toString("latin1").trimEnd() : ""));
  return [textFile(CERTIFICATES, `${texts.join("\n")}\n`)];
}
