import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { constants, setPriority } from "node:os";
import path from "node:path";
import { ControlPlaneError } from "../errors.ts";
import { poll } from "../poll.ts";
import { run } from "../run.ts";

/** Go programs of one module, a directory each, that are built when they are not up to date. */
export interface GoModule {
  /** In messages, such as "control plane 1.36". */
  readonly name: string;
  /** The directory of go.mod. */
  readonly dir: string;
  /** Name of the go.mod; its go.sum has the same name but for the suffix. */
  readonly modfile: string;
  /** Directory below `dir` with a directory for each program. */
  readonly commands: string;
  /** Directories below `dir` with what the programs share. */
  readonly shared: readonly string[];
  /** Where the programs are put. */
  readonly binDir: string;
  /** Whatever else the programs depend on. */
  readonly seed: unknown;
  /** Arguments of `go` before the output and the package. */
  readonly goArgs: readonly string[];
  /** What is built, and how long it takes, for anyone who waits for it. */
  readonly about: string;
}

export interface GoBuildOptions {
  /** Gets one line a step. Default: standard error. */
  readonly onProgress?: ((line: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A cold build of everything takes about 5 minutes on 2 free cores; a machine that is busy or slow gets more. */
const buildTimeoutMs = 60 * 60_000;
const goVersionTimeoutMs = 30_000;

/** What the build depends on, in the order in which it is hashed. */
interface Inputs {
  readonly module: GoModule;
  readonly programs: readonly string[];
  readonly hash: string;
}

/** Builds what has changed since the last build, which is nothing in most cases: then it takes some milliseconds. */
export async function buildGoModule(module: GoModule, options: GoBuildOptions = {}): Promise<void> {
  const inputs = await gatherInputs(module);
  if (await isBuilt(inputs)) return;
  const report = options.onProgress ?? ((line: string) => console.error(line));
  await using _lock = await buildLock(module.binDir, { report, signal: options.signal, timeoutMs: buildTimeoutMs });
  // Another process may have built while this one waited for the lock.
  if (await isBuilt(inputs)) return;
  const goVersion = await requireGo(module);
  await buildPrograms(inputs, goVersion, { report, signal: options.signal });
}

/** Whether the programs are there and as their sources say. */
export async function isGoModuleBuilt(module: GoModule): Promise<boolean> {
  return isBuilt(await gatherInputs(module));
}

/** The version of the Go toolchain in PATH. */
export async function findGo(cwd: string): Promise<string | undefined> {
  const answer = await run("go", ["env", "GOVERSION"], { cwd, timeoutMs: goVersionTimeoutMs });
  return answer.exitCode === 0 ? answer.stdout.trim() : undefined;
}

function hashFile(module: GoModule): string {
  return path.join(module.binDir, "inputs.sha256");
}

async function isBuilt({ module, programs, hash }: Inputs): Promise<boolean> {
  const present: readonly string[] = await readdir(module.binDir).catch(() => []);
  if (!programs.every((program) => present.includes(program))) return false;
  const builtFrom = await readFile(hashFile(module), "utf8").catch(() => "");
  return builtFrom.trim() === hash;
}

/** Only what ends up in the programs. */
async function gatherInputs(module: GoModule): Promise<Inputs> {
  const sources = await listSources(module);
  const files = [module.modfile, module.modfile.replace(/\.mod$/, ".sum"), ...sources];
  const hash = createHash("sha256").update(JSON.stringify([module.seed, process.platform, process.arch]));
  for (const file of files) {
    hash.update(`\0${file}\0`).update(await readFile(path.join(module.dir, file)));
  }
  const mains = sources.filter((file) => path.basename(file) === "main.go");
  return { module, programs: mains.map((file) => path.basename(path.dirname(file))), hash: hash.digest("hex") };
}

async function listSources({ dir, commands, shared }: GoModule): Promise<readonly string[]> {
  const found = await Promise.all(
    [commands, ...shared].map(async (directory) => {
      const names = await readdir(path.join(dir, directory), { recursive: true });
      return names.filter((name) => name.endsWith(".go")).map((name) => path.join(directory, name));
    }),
  );
  return found.flat().sort();
}

async function requireGo(module: GoModule): Promise<string> {
  const goVersion = await findGo(module.dir);
  if (goVersion !== undefined) return goVersion;
  throw new ControlPlaneError(
    "GO_MISSING",
    `build the ${module.name}: \`go\` was not found in PATH or does not run. Install the Go toolchain that ` +
      `${module.modfile} names (line "go"), or copy a built directory to ${module.binDir}`,
  );
}

interface BuildContext {
  readonly report: (line: string) => void;
  readonly signal: AbortSignal | undefined;
}

async function buildPrograms(
  { module, programs, hash }: Inputs,
  goVersion: string,
  context: BuildContext,
): Promise<void> {
  await mkdir(module.binDir, { recursive: true });
  await rm(hashFile(module), { force: true });
  context.report(`${module.name}: building with ${goVersion}: ${module.about}`);
  const began = performance.now();
  for (const [index, program] of programs.entries()) {
    const start = performance.now();
    const step = `${module.name}: [${index + 1}/${programs.length}] ${program}`;
    context.report(`${step} …`);
    await buildProgram(module, program, context);
    context.report(`${step}: ${seconds(start)} s`);
  }
  // Programs of sources that changed under the build are of no known state: the next one builds again.
  const { hash: hashNow } = await gatherInputs(module);
  if (hashNow === hash) await writeFile(hashFile(module), `${hash}\n`);
  context.report(`${module.name}: built in ${seconds(began)} s: ${module.binDir}`);
}

async function buildProgram(module: GoModule, program: string, context: BuildContext): Promise<void> {
  const target = path.join(module.binDir, program);
  const unfinished = `${target}.unfinished`;
  const child = spawn("go", [...module.goArgs, "-o", unfinished, `./${module.commands}/${program}`], {
    cwd: module.dir,
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
      `build ${program} of the ${module.name} in ${module.dir}: go ended with ${exitCode ?? signal}:\n${output.join("")}`,
    );
  }
  await rename(unfinished, target);
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}

interface BuildLockOptions {
  readonly report: (line: string) => void;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/**
 * Lets one process at a time build into `dir`; the others wait. A file would outlive its owner: this is an abstract Unix
 * socket (Linux), which the kernel gives free however the owner ends.
 */
async function buildLock(dir: string, options: BuildLockOptions): Promise<AsyncDisposable> {
  const name = `\0cloudwire-control-plane-${createHash("sha256").update(dir).digest("hex").slice(0, 32)}`;
  let waits = false;
  const { report, ...wait } = options;
  return await poll({ what: `another process to finish building ${dir}`, intervalMs: 500, ...wait }, async () => {
    const lock = await tryListen(name);
    if (lock === undefined && !waits) {
      waits = true;
      report(`control plane: another process is building ${dir}; waiting for it`);
    }
    return lock;
  });
}

async function tryListen(name: string): Promise<AsyncDisposable | undefined> {
  const server = createServer();
  const listening = once(server, "listening");
  server.listen(name);
  try {
    await listening;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return undefined;
    throw error;
  }
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}
