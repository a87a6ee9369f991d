import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** What a licence asks to be passed on: its own text, and a NOTICE (Apache-2.0, section 4). */
const LEGAL_FILE = /^(?:licen[cs]e|notice|copying)(?:[.-].*)?$/i;
/** The innermost package of a module's path. */
const PACKAGE_FOLDER = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/** Names, versions and licences of the packages that the modules come from, as one text. */
export async function noticesOf(modulePaths: readonly string[]): Promise<string> {
  const folders = new Set(modulePaths.flatMap((path) => PACKAGE_FOLDER.exec(path)?.[0] ?? []));
  const notices = await Promise.all([...folders].map(noticeOf));
  return ["This program contains the following packages.\n", ...notices.toSorted()].join(`\n${"-".repeat(80)}\n\n`);
}

async function noticeOf(folder: string): Promise<string> {
  const manifest: { readonly name: string; readonly version: string; readonly license?: string } = JSON.parse(
    await readFile(join(folder, "package.json"), "utf8"),
  );
  const { name, version, license } = manifest;
  if (license === undefined) throw new Error(`${folder}/package.json names no licence: may it be shipped?`);
  const files = (await readdir(folder)).filter((file) => LEGAL_FILE.test(file)).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  return [`${name} ${version}, licence ${license}\n`, ...texts.map((text) => `${text.trim()}\n`)].join("\n");
}
