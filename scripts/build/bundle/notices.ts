import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** What a license asks to be passed on: its own text, and a NOTICE (Apache-2.0, section 4). */
const LEGAL_FILE = /^(?:licen[cs]e|notice|copying)(?:[.-].*)?$/i;
/** The innermost package of a module's path. */
const PACKAGE_DIRECTORY = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

/** The packages that the modules come from, by name. */
export async function packagesOf(modulePaths: readonly string[]): Promise<readonly BundledPackage[]> {
  const packages = await Promise.all(directoriesOf(modulePaths).map(manifestOf));
  return packages.toSorted((left, right) => left.name.localeCompare(right.name, "en"));
}

/** Names, versions and licenses of the packages that the modules come from, as one text. */
export async function noticesOf(modulePaths: readonly string[]): Promise<string> {
  const notices = await Promise.all(directoriesOf(modulePaths).map(noticeOf));
  return ["This program contains the following packages.\n", ...notices.toSorted()].join(`\n${"-".repeat(80)}\n\n`);
}

function directoriesOf(modulePaths: readonly string[]): readonly string[] {
  return [...new Set(modulePaths.flatMap((path) => PACKAGE_DIRECTORY.exec(path)?.[0] ?? []))];
}

async function manifestOf(directory: string): Promise<BundledPackage> {
  const manifest: Partial<BundledPackage> & Pick<BundledPackage, "name" | "version"> = JSON.parse(
    await readFile(join(directory, "package.json"), "utf8"),
  );
  const { name, version, license } = manifest;
  if (license === undefined) throw new Error(`${directory}/package.json names no license: may it be shipped?`);
  return { name, version, license };
}

async function noticeOf(directory: string): Promise<string> {
  const { name, version, license } = await manifestOf(directory);
  const files = (await readdir(directory)).filter((file) => LEGAL_FILE.test(file)).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(directory, file), "utf8")));
  return [`${name} ${version}, license ${license}\n`, ...texts.map((text) => `${text.trim()}\n`)].join("\n");
}
