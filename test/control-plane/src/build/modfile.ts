import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { ControlPlaneError } from "../errors.ts";
import { parseJson, requireString } from "../json.ts";
import { type RunResult, run } from "../run.ts";
import { type KubernetesVersion, moduleDir } from "./versions.ts";

/** A Go module of this repository that builds parts of Kubernetes. */
export interface ModuleTarget {
  /** The directory of its go.mod. */
  readonly dir: string;
  readonly path: string;
  readonly modfile: string;
  /** What it needs besides k8s.io/kubernetes, with versions. */
  readonly requires: readonly string[];
}

type KubernetesRelease = Pick<KubernetesVersion, "kubernetes">;

/** Downloads every module of Kubernetes on a machine that has none. */
const goTimeoutMs = 20 * 60_000;

/** The module of the control plane itself. */
export function controlPlaneTarget(version: KubernetesVersion): ModuleTarget {
  const requires = [`go.etcd.io/etcd/server/v3 v${version.etcd}`];
  return { dir: moduleDir, path: "cloudwire.dev/test/control-plane", modfile: version.modfile, requires };
}

/** Writes the go.mod and go.sum of a module for a version of Kubernetes. */
export async function writeModuleFile(version: KubernetesRelease, target: ModuleTarget): Promise<void> {
  const module = `k8s.io/kubernetes@v${version.kubernetes}`;
  // Outside the module: its own go.mod may be the one that is to be fixed.
  const answer = await go(["mod", "download", "-json", module], path.parse(target.dir).root, version);
  const upstream = await readFile(requireString(parseJson(answer.stdout, module), "GoMod", module), "utf8");
  await writeFile(path.join(target.dir, target.modfile), moduleFile(version, target, upstream));
  // The directory of a module is known by a file of this name, whichever file -modfile says.
  const root = path.join(target.dir, "go.mod");
  if (!existsSync(root))
    throw new ControlPlaneError("BAD_OPTIONS", `${root} is missing: one minor must have it as modfile`);
  await go(["mod", "tidy", `-modfile=${target.modfile}`], target.dir, version);
}

/**
 * k8s.io/kubernetes v1.X.Y requires its staging modules as v0.0.0 and replaces them by directories of its repository; they
 * are published as v0.X.Y. `upstream` is its go.mod, which has the list.
 */
export function moduleFile(version: KubernetesRelease, target: ModuleTarget, upstream: string): string {
  const staging = [...upstream.matchAll(/^\s*(\S+) => \.\/staging\/src\/\S+$/gm)].map(([, name]) => name);
  const goVersion = /^go (\S+)$/m.exec(upstream)?.[1];
  if (staging.length === 0 || goVersion === undefined) {
    const source = `the go.mod of k8s.io/kubernetes v${version.kubernetes}`;
    throw new ControlPlaneError("UNEXPECTED_CONTENT", `read ${source}: no staging modules or no go line in it`);
  }
  return [
    `module ${target.path}`,
    "",
    `go ${goVersion}`,
    "",
    "require (",
    ...target.requires.map((required) => `\t${required}`),
    `\tk8s.io/kubernetes v${version.kubernetes}`,
    ")",
    "",
    "replace (",
    ...staging.map((name) => `\t${name} => ${name} ${stagingVersion(version)}`),
    ")",
    "",
  ].join("\n");
}

/** For example v0.36.3 for Kubernetes 1.36.3. */
function stagingVersion(version: KubernetesRelease): string {
  return `v0.${version.kubernetes.split(".").slice(1).join(".")}`;
}

async function go(args: readonly string[], cwd: string, version: KubernetesRelease): Promise<RunResult> {
  const answer = await run("go", args, { cwd, timeoutMs: goTimeoutMs });
  if (answer.exitCode === 0) return answer;
  const output = [answer.stderr, answer.stdout, answer.error?.message].find(
    (text) => text !== undefined && text !== "",
  );
  throw new ControlPlaneError(
    "BUILD_FAILED",
    `write go.mod for Kubernetes v${version.kubernetes}: \`go ${args.join(" ")}\` failed: ${output ?? "no output"}`,
  );
}
