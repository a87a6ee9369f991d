import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Release } from "./image.ts";
import { BuildError, outputOf, ROOT } from "./tools.ts";

/** What is built: the version from package.json, time and revision of the commit where the checkout is one. */
export async function readRelease(
  { SOURCE_DATE_EPOCH: epoch }: Readonly<Record<string, string | undefined>>,
  sourceUrl: string | undefined,
): Promise<Release> {
  const manifest: { readonly version: string } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const revision = await cleanRevision();
  return {
    version: manifest.version,
    modified: epoch === undefined ? await commitTime() : timeOf(epoch),
    ...(revision && { revision }),
    ...(sourceUrl && { sourceUrl }),
  };
}

function timeOf(epoch: string): Date {
  if (!/^\d{1,10}$/.test(epoch)) throw new BuildError(`SOURCE_DATE_EPOCH=${epoch}: must be a number of seconds`);
  return new Date(Number(epoch) * 1_000);
}

async function commitTime(): Promise<Date> {
  return timeOf((await git("log", "-1", "--format=%ct")) ?? "0");
}

/** Nothing where what is built is not what was committed. */
async function cleanRevision(): Promise<string | undefined> {
  const changes = await git("status", "--porcelain");
  return changes === "" ? git("rev-parse", "HEAD") : undefined;
}

/** Nothing outside of a repository. */
async function git(...args: readonly string[]): Promise<string | undefined> {
  return outputOf("git", args, { cwd: ROOT }).then(
    (text) => text.trim(),
    () => undefined,
  );
}
