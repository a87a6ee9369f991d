import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, run } from "../../lib/run.ts";
import type { Mutant } from "./report.ts";

/** `noUnused…` and unreachable code are matters of taste: a fault that leaves something over is still one. */
const COMPILER_OPTIONS = {
  noEmit: true,
  composite: false,
  incremental: false,
  noUnusedLocals: false,
  noUnusedParameters: false,
  allowUnreachableCode: true,
};

/**
 * The faults that the compiler refuses: no one can make them. Stryker's own check needs an interface of the compiler that
 * TypeScript 7 no longer has; here each fault becomes a file next to the original, and one run of tsc checks them all.
 */
export async function uncompilable(mutants: readonly Mutant[]): Promise<ReadonlySet<Mutant>> {
  if (mutants.length === 0) return new Set();
  const directory = await mkdtemp(join(tmpdir(), "cloudwire-mutation-"));
  try {
    await cp(join(ROOT, "controller/src"), join(directory, "controller/src"), { recursive: true });
    await cp(join(ROOT, "controller/package.json"), join(directory, "controller/package.json"));
    await symlink(join(ROOT, "node_modules"), join(directory, "node_modules"));
    const paths = mutants.map(({ path }, index) => path.replace(/\.ts$/, `.fault-${index}.ts`));
    await Promise.all(mutants.map(({ text }, index) => writeFile(join(directory, paths[index] ?? ""), text)));
    const config = join(directory, "tsconfig.json");
    const base = join(ROOT, "controller/tsconfig.json");
    const options = { ...COMPILER_OPTIONS, rootDir: "/" };
    await writeFile(
      config,
      JSON.stringify({ extends: base, compilerOptions: options, files: paths, include: [], references: [] }),
    );
    const { output } = await run("tsc", ["--project", config, "--pretty", "false"], { output: "keep" });
    const refused = new Set(
      [...output.matchAll(/\.fault-(\d+)\.ts\(\d+,\d+\): error /g)].map(([, index]) => Number(index)),
    );
    return new Set(mutants.filter((_, index) => refused.has(index)));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
