import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** What a licence asks to be passed on: its own text, and a NOTICE (Apache-2.0, section 4). */
const LEGAL_FILE = /^(?:licen[cs]e|notice|copying)(?:[.-].*)?$/i;
/** The innermost package of a module's path. */
const PACKAGE_FOLDER = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

/** The packages that the modules come from, by name. */
export async function packagesOf(modulePaths: readonly string[]): Promise<readonly BundledPackage[]> {
  const packages = await Promise.all(foldersOf(modulePaths).map(manifestOf));
  return packages.toSorted((left, right) => left.name.localeCompare(right.name, "en"));
}

/** Names, versions and licences of the packages that the modules come from, as one text. */
export async function noticesOf(modulePaths: readonly string[]): Promise<string> {
  const notices = await Promise.all(foldersOf(modulePaths).map(noticeOf));
  return ["This program contains the following packages.\n", ...notices.toSorted()].join(`\n${"-".repeat(80)}\n\n`);
}

function foldersOf(modulePaths: readonly string[]): readonly string[] {
  return [...new Set(modulePaths.flatMap((path) => PACKAGE_FOLDER.exec(path)?.[0] ?? []))];
}

async function manifestOf(folder: string): Promise<BundledPackage> {
  const manifest: Partial<BundledPackage> & Pick<BundledPackage, "name" | "version"> = JSON.parse(
    await readFile(join(folder, "package.json"), "utf8"),
  );
  const { name, version, license } = manifest;
  if (license === undefined) throw new Error(`${folder}/package.json names no licence: may it be shipped?`);
  return { name, version, license };
}

async function noticeOf(folder: string): Promise<string> {
  const { name, version, license } = await manifestOf(folder);
  const files = (await readdir(folder)).filter((file) => LEGAL_FILE.test(file)).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  return [`${name} ${version}, licence ${license}\n`, ...texts.map((text) => `${text.trim()}\n`)].join("\n");
}
