import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { ROOT, run, type RunResult } from "../../lib/run.ts";
import type { Snippet } from "./snippets.ts";

/** Type-checks and runs the snippets; one sentence, with what was printed, for each that does not work. */
export async function failingSnippets(snippets: readonly Snippet[]): Promise<readonly string[]> {
  const cache = join(ROOT, ".cache");
  await mkdir(cache, { recursive: true });
  // Inside the checkout, so that packages resolve as for a reader; not in node_modules, where Node strips no types.
  const directory = await mkdtemp(join(cache, "snippets-"));
  try {
    const files = await writeModules(directory, snippets);
    const faults = await typeFaults(directory, files);
    for (const [index, snippet] of snippets.entries()) faults.push(...(await runFaults(snippet, files.get(index))));
    return faults;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Index of a snippet to the file it stands in; shell snippets have none. */
async function writeModules(directory: string, snippets: readonly Snippet[]): Promise<ReadonlyMap<number, string>> {
  const files = new Map<number, string>();
  for (const [index, { language, text, where }] of snippets.entries()) {
    if (language !== "ts") continue;
    const file = join(directory, `${where.replaceAll(/[^A-Za-z0-9]+/g, "-")}.ts`);
    await writeFile(file, text);
    files.set(index, file);
  }
  return files;
}

async function typeFaults(directory: string, files: ReadonlyMap<number, string>): Promise<string[]> {
  if (files.size === 0) return [];
  const options = {
    noEmit: true,
    composite: false,
    declaration: false,
    rewriteRelativeImportExtensions: false,
    // Packages of the workspace are their sources.
    allowImportingTsExtensions: true,
  };
  const config = {
    extends: join(relative(directory, ROOT), "tsconfig.base.json"),
    compilerOptions: options,
    include: ["*.ts"],
  };
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify(config));
  const { code, output } = await run("tsc", ["-p", directory], { output: "keep" });
  return code === 0 ? [] : [`tested snippets do not type-check (file names give page and line):\n${output.trimEnd()}`];
}

async function runFaults({ where, language, text, output, timeoutMs }: Snippet, file = ""): Promise<readonly string[]> {
  const signal = AbortSignal.timeout(timeoutMs);
  const options = { output: "keep", signal } as const;
  let result: RunResult;
  try {
    result =
      language === "ts"
        ? await run("node", ["--conditions=development", file], options)
        : await run("bash", ["-euo", "pipefail", "-s"], { ...options, input: text });
  } catch (error) {
    if (!signal.aborted) throw error;
    return [`${where}: had not ended after ${timeoutMs / 1_000} s`];
  }
  const printed = `\n${result.output.trimEnd()}`;
  if (result.code !== 0) return [`${where}: failed with exit code ${result.code}:${printed}`];
  if (output !== undefined && result.output !== output)
    return [`${where}: printed something else than the page says:${printed}`];
  return [];
}
