import { chmod, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { type OutputChunk, type Plugin, rolldown } from "rolldown";
import { ROOT } from "../../lib/run.ts";
import { asCommonJs } from "./as-commonjs.ts";
import { plainBuiltins } from "./builtins.ts";
import { noticesOf, packagesOf } from "./notices.ts";
import { buildPage } from "./page.ts";

export interface ProgramSource {
  /** Of the command. */
  readonly name: string;
  /** Its main module, relative to the top of the checkout. */
  readonly source: string;
  /** It serves the status page. @default false */
  readonly hasPage?: boolean;
  /** Names that it goes by in a directory of the path, and that it looks at. @default none */
  readonly links?: readonly string[];
}

export interface Bundle {
  readonly fileCount: number;
  /** Of the code, without maps and notices. */
  readonly sizeBytes: number;
}

const LAUNCHER = "scripts/build/bundle/launcher.mjs";

/**
 * Its 8 MB of models are needed for their types only: without this mark an unused module would stay, for what
 * evaluating it might do.
 */
const TYPES_ONLY = /\/node_modules\/@kubernetes\/client-node\//;

/** Writes the program into the directory: `<name>.mjs` to start it, program.mjs, chunks loaded on demand, maps, licenses. */
export async function bundleProgram(
  { name, source, hasPage = false, links = [] }: ProgramSource,
  directory: string,
): Promise<Bundle> {
  // Next to it, so that a concurrent start finds the complete previous bundle.
  const fresh = `${directory}.${process.pid}`;
  try {
    const ofPage = hasPage ? await buildPage() : [];
    const chunks = [
      // Before it has looked at Node's version it has to do with what any Node has.
      ...(await build({ [name]: join(ROOT, LAUNCHER) }, fresh, [])),
      ...(await build({ program: join(ROOT, source) }, fresh, [plainBuiltins, asCommonJs])),
    ];
    await chmod(join(fresh, `${name}.mjs`), 0o755);
    for (const link of links) await symlink(`${name}.mjs`, join(fresh, link));
    const modules = [...chunks.flatMap(({ moduleIds }) => moduleIds), ...ofPage];
    await writeFile(join(fresh, "THIRD_PARTY_NOTICES.txt"), await noticesOf(modules));
    const packages = `${JSON.stringify(await packagesOf(modules), undefined, 2)}\n`;
    await writeFile(join(fresh, "THIRD_PARTY_PACKAGES.json"), packages);
    await rm(directory, { recursive: true, force: true });
    await rename(fresh, directory);
    return { fileCount: chunks.length, sizeBytes: chunks.reduce((sum, { code }) => sum + Buffer.byteLength(code), 0) };
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

async function build(
  input: Readonly<Record<string, string>>,
  dir: string,
  plugins: readonly Plugin[],
): Promise<readonly OutputChunk[]> {
  await using bundle = await rolldown({
    cwd: ROOT,
    input,
    plugins: [...plugins],
    platform: "node",
    // Workspace packages from their sources, as everywhere here.
    resolve: { conditionNames: ["development", "node"] },
    treeshake: { moduleSideEffects: (id) => !TYPES_ONLY.test(id) },
    // A file that a module reads beside itself comes along.
    experimental: { resolveNewUrlToAsset: true },
    onLog: (level, { message }) => {
      if (level === "warn") throw new Error(`bundling ${Object.values(input).join()}: ${message}`);
    },
  });
  const { output } = await bundle.write({
    dir,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "chunks/[name].mjs",
    assetFileNames: "assets/[name][extname]",
    // Names of functions and classes stay: stacks and logs show them.
    minify: { compress: true, mangle: { keepNames: true }, codegen: true },
    // One character beyond ASCII, and the whole text of a file takes two bytes a character of memory.
    charset: "ascii",
    // They are in THIRD_PARTY_NOTICES.txt.
    comments: { legal: false },
    // For `node --enable-source-maps`, which reads them only when it has a stack to show.
    sourcemap: true,
    sourcemapExcludeSources: true,
  });
  return output.filter((file) => file.type === "chunk");
}
