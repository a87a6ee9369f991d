import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import path from "node:path";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { buildLock } from "./build-lock.ts";
import { ControlPlaneError } from "./errors.ts";
import { run } from "./run.ts";
import { type KubernetesVersion, moduleDir, readVersion } from "./versions.ts";

export interface BuildOptions {
  /** Minor of Kubernetes, a key of versions.json; the default one of that file when absent. */
  readonly minor?: string | undefined;
  /** Gets one line a step. Default: standard error. */
  readonly onProgress?: ((line: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The programs of one minor, ready to run. */
export interface Binaries {
  readonly version: KubernetesVersion;
  readonly dir: string;
}

/** Whether a control plane can be had here, so that a suite can say why it is skipped. */
export type Availability =
  | { readonly kind: "built" }
  | { readonly kind: "buildable"; readonly goVersion: string }
  | { readonly kind: "missing"; readonly reason: string };

/** A cold build takes about 5 minutes on 2 free cores; a machine that is busy or slow gets more. */
const buildTimeoutMs = 60 * 60_000;
const goVersionTimeoutMs = 30_000;

/** What the build depends on, in the order in which it is hashed. */
interface Inputs {
  readonly version: KubernetesVersion;
  readonly programs: readonly string[];
  readonly hash: string;
}

/** Builds what has changed since the last build, which is nothing in most cases: then it takes some milliseconds. */
export async function buildControlPlane(options: BuildOptions = {}): Promise<Binaries> {
  const inputs = await gatherInputs(await readVersion(options.minor));
  const binaries: Binaries = { version: inputs.version, dir: binDir(inputs.version) };
  if (await isBuilt(inputs)) return binaries;
  const report = options.onProgress ?? ((line: string) => console.error(line));
  await using _lock = await buildLock(binaries.dir, { report, signal: options.signal, timeoutMs: buildTimeoutMs });
  // Another process may have built while this one waited for the lock.
  if (await isBuilt(inputs)) return binaries;
  const goVersion = await requireGo(inputs.version);
  await buildPrograms(inputs, goVersion, { report, signal: options.signal });
  return binaries;
}

export async function controlPlaneAvailability(minor?: string): Promise<Availability> {
  if (await isBuilt(await gatherInputs(await readVersion(minor)))) return { kind: "built" };
  const goVersion = await findGo();
  if (goVersion !== undefined) return { kind: "buildable", goVersion };
  return { kind: "missing", reason: "the control plane is not built and there is no Go toolchain (`go`) in PATH" };
}

function binDir(version: KubernetesVersion): string {
  return path.join(moduleDir, "bin", version.minor);
}

function stampFile(version: KubernetesVersion): string {
  return path.join(binDir(version), "inputs.sha256");
}

async function isBuilt(inputs: Inputs): Promise<boolean> {
  const present: readonly string[] = await readdir(binDir(inputs.version)).catch(() => []);
  if (!inputs.programs.every((program) => present.includes(program))) return false;
  const stamp = await readFile(stampFile(inputs.version), "utf8").catch(() => "");
  return stamp.trim() === inputs.hash;
}

/** Only what ends up in the programs: a new minor in versions.json must not rebuild the others. */
async function gatherInputs(version: KubernetesVersion): Promise<Inputs> {
  const sources = await listSources(["cmd", "internal"]);
  const files = [version.modfile, version.modfile.replace(/\.mod$/, ".sum"), ...sources];
  const hash = createHash("sha256").update(JSON.stringify([version, process.platform, process.arch]));
  for (const file of files) {
    hash.update(`\0${file}\0`).update(await readFile(path.join(moduleDir, file)));
  }
  const mains = sources.filter((file) => path.basename(file) === "main.go");
  return {
    version,
    programs: mains.map((file) => path.basename(path.dirname(file))),
    hash: hash.digest("hex"),
  };
}

async function listSources(folders: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    folders.map(async (folder) => {
      const names = await readdir(path.join(moduleDir, folder), { recursive: true });
      return names.filter((name) => name.endsWith(".go")).map((name) => path.join(folder, name));
    }),
  );
  return found.flat().sort();
}

async function findGo(): Promise<string | undefined> {
  const answer = await run("go", ["env", "GOVERSION"], { cwd: moduleDir, timeoutMs: goVersionTimeoutMs });
  return answer.exitCode === 0 ? answer.stdout.trim() : undefined;
}

async function requireGo(version: KubernetesVersion): Promise<string> {
  const goVersion = await findGo();
  if (goVersion !== undefined) return goVersion;
  throw new ControlPlaneError(
    "GO_MISSING",
    `build the control plane ${version.minor}: \`go\` was not found in PATH or does not run. Install the Go toolchain that ` +
      `${version.modfile} names (line "go"), or copy a built folder to ${binDir(version)}`,
  );
}

interface BuildContext {
  readonly report: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

async function buildPrograms(inputs: Inputs, goVersion: string, context: BuildContext): Promise<void> {
  const { version, programs } = inputs;
  const dir = binDir(version);
  await mkdir(dir, { recursive: true });
  context.report(
    `control plane ${version.minor}: building Kubernetes v${version.kubernetes} and etcd v${version.etcd} with ${goVersion}; ` +
      "the first time takes about 5 minutes on 2 free cores and 3 GB of cache, later ones seconds",
  );
  const began = performance.now();
  for (const [index, program] of programs.entries()) {
    const start = performance.now();
    context.report(`control plane ${version.minor}: [${index + 1}/${programs.length}] ${program} …`);
    await buildProgram(version, program, context);
    context.report(`control plane ${version.minor}: [${index + 1}/${programs.length}] ${program}: ${seconds(start)} s`);
  }
  await writeFile(stampFile(version), `${inputs.hash}\n`);
  context.report(`control plane ${version.minor}: built in ${seconds(began)} s: ${dir}`);
}

async function buildProgram(version: KubernetesVersion, program: string, context: BuildContext): Promise<void> {
  const target = path.join(binDir(version), program);
  const unfinished = `${target}.unfinished`;
  const child = spawn("go", [...goBuildArgs(version), "-o", unfinished, `./cmd/${program}`], {
    cwd: moduleDir,
    env: { ...process.env, CGO_ENABLED: "0" },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: buildTimeoutMs,
    ...(context.signal === undefined ? {} : { signal: context.signal }),
  });
  // The compilers inherit it: a build in the background must not slow down what a person does.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  const output: string[] = [];
  child.stdout.setEncoding("utf8").on("data", (text: string) => output.push(text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => output.push(text));
  const [exitCode, signal] = await once(child, "close");
  if (exitCode !== 0) {
    throw new ControlPlaneError(
      "BUILD_FAILED",
      `build ${program} of Kubernetes v${version.kubernetes} in ${moduleDir}: go ended with ${exitCode ?? signal}:\n${output.join("")}`,
    );
  }
  await rename(unfinished, target);
}

/** kube-apiserver refuses to start without a version, and `go build` knows none for a dependency. */
export function goBuildArgs(version: KubernetesVersion): readonly string[] {
  const [major, minor] = version.minor.split(".");
  const at = "k8s.io/component-base/version";
  const values = [`gitVersion=v${version.kubernetes}`, `gitMajor=${major}`, `gitMinor=${minor}`];
  const linkFlags = ["-s", "-w", ...values.flatMap((value) => ["-X", `${at}.${value}`])];
  return ["build", "-trimpath", "-buildvcs=false", `-modfile=${version.modfile}`, "-ldflags", linkFlags.join(" ")];
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}
