import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { capture, ROOT } from "../../lib/run.ts";

const PACKAGE = "status-page";

/** Builds the status page to where a program that serves it names its files; answers a path in each package that is in it. */
export async function buildPage(): Promise<readonly string[]> {
  await capture(process.execPath, ["--conditions=development", `${PACKAGE}/scripts/build.ts`]);
  const manifest: { readonly dependencies: Readonly<Record<string, string>> } = JSON.parse(
    await readFile(join(ROOT, PACKAGE, "package.json"), "utf8"),
  );
  const others = Object.keys(manifest.dependencies).filter((name) => !name.startsWith("@cloudwire/"));
  return others.map((name) => join(ROOT, "node_modules", name, "package.json"));
}
