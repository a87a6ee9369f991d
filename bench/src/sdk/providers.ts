import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";

/** A provider of the simulated cloud, in one language. */
export interface MeasuredProvider {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** Providers that can be started here, and why the others cannot. */
export interface MeasuredProviders {
  readonly ready: readonly MeasuredProvider[];
  readonly missing: readonly string[];
}

const inTree = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** Builds each as a vendor would ship it: TypeScript bundled, Go compiled. */
export function builtProviders(): MeasuredProviders {
  const bundled = run(execPath, ["--conditions=development", inTree("scripts/build/bundle/main.ts")], ".");
  const goProgram = inTree("providers/simulated-go/bin/provider-simulated-go");
  const compiled = run("go", ["build", "-trimpath", "-o", goProgram, "."], "providers/simulated-go");
  const python = inTree("provider-sdk/python/.venv/bin/python");
  const candidates: readonly (MeasuredProvider & { readonly problem: string | undefined })[] = [
    {
      name: "TypeScript",
      command: execPath,
      args: [inTree("providers/simulated/bin/cloudwire-provider-simulated.mjs")],
      problem: bundled,
    },
    { name: "Go", command: goProgram, args: [], problem: compiled },
    {
      name: "Python",
      command: python,
      args: [inTree("providers/simulated-python/main.py")],
      problem: existsSync(python) ? undefined : "its packages are not installed; npm test -- --only python does that",
    },
  ];
  return {
    ready: candidates.filter(({ problem }) => problem === undefined),
    missing: candidates.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem}`])),
  };
}

/** What went wrong, if anything did. */
function run(command: string, args: readonly string[], directory: string): string | undefined {
  const { status, stderr, error } = spawnSync(command, args, { cwd: inTree(directory), encoding: "utf8" });
  if (status === 0) return undefined;
  return error?.message ?? stderr.trim();
}
