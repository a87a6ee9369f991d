import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Choices } from "./choices.ts";
import type { Language } from "./language.ts";
import { replacementsOf } from "./placeholders.ts";
import { checkoutProblems, takeSdk } from "./sdk-from-checkout.ts";
import { type Files, renderTemplate } from "./template.ts";
import { UserError } from "./user-error.ts";

/** Where relative paths begin, and what ends the work. */
export interface Surroundings {
  readonly cwd: string;
  readonly signal: AbortSignal;
}

/**
 * Makes the project. All of it is there afterwards or none of it: it grows in a directory beside its own and is moved there at the end.
 * Answers the directory.
 */
export async function createProject(choices: Choices, { cwd, signal }: Surroundings): Promise<string> {
  const problems = await placeProblems(choices, cwd);
  if (problems.length > 0) throw new UserError(problems);
  const directory = resolve(cwd, choices.dir);
  const checkout = choices.sdk === undefined ? undefined : resolve(cwd, choices.sdk);
  const files = await renderTemplate(choices.language, replacementsOf(choices));
  const parent = dirname(directory);
  await mkdir(parent, { recursive: true });
  // No mkdtemp: its directories are closed to others, and this one stays.
  const growing = join(parent, `.${basename(directory)}-${randomUUID()}`);
  await mkdir(growing);
  try {
    const { language } = choices;
    const complete =
      checkout === undefined ? files : await takeSdk(files, { checkout, language, project: growing }, signal);
    await writeFiles(growing, complete);
    signal.throwIfAborted();
    await moveInPlace(growing, directory);
  } finally {
    await rm(growing, { recursive: true, force: true });
  }
  return directory;
}

/** The problems with the directories that the user gave. */
export async function placeProblems(
  {
    dir,
    sdk,
    language,
  }: { readonly dir: string | undefined; readonly sdk: string | undefined; readonly language: Language | undefined },
  cwd: string,
): Promise<readonly string[]> {
  return [
    ...(dir === undefined ? [] : await directoryProblems(resolve(cwd, dir), dir)),
    ...(sdk === undefined || language === undefined ? [] : await checkoutProblems(resolve(cwd, sdk), language, sdk)),
  ];
}

async function directoryProblems(directory: string, asWritten: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(directory);
    return entries.length === 0 ? [] : [`directory "${asWritten}": is not empty; name another with --dir`];
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    if (hasCode(error, "ENOTDIR")) return [`directory "${asWritten}": a file is in its place; name another with --dir`];
    throw error;
  }
}

async function writeFiles(directory: string, files: Files): Promise<void> {
  for (const [path, text] of files) {
    const target = join(directory, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
  }
}

async function moveInPlace(growing: string, directory: string): Promise<void> {
  // An empty directory may be there. It goes first: not every system moves a directory over another.
  await rmdir(directory).catch((error: unknown) => {
    if (!hasCode(error, "ENOENT")) throw error;
  });
  await rename(growing, directory);
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
