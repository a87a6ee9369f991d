import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const createProvider = join(root, "provider-sdk/create/src/main.ts");

/** Longest time of one command: the first installation and build on a small machine take minutes. */
const COMMAND_MS = 240_000;

/** A project made by `npm create @cloudwire/provider`, in a directory of its own. */
export class ScaffoldedProject implements AsyncDisposable {
  readonly directory: string;
  readonly #parent: string;

  private constructor(parent: string) {
    this.#parent = parent;
    this.directory = join(parent, "project");
  }

  /** Makes one that takes the SDK from this checkout, which is compiled before. */
  static async create(language: string, ...options: readonly string[]): Promise<ScaffoldedProject> {
    await execute(root, "tsc", ["-b", "provider-sdk/typescript", "provider-sdk/conformance"]);
    const project = new ScaffoldedProject(await mkdtemp(join(tmpdir(), "scaffold-")));
    const args = ["--language", language, "--dir", project.directory, "--sdk", root, ...options];
    await execute(root, process.execPath, ["--conditions=development", createProvider, ...args]);
    return project;
  }

  /** Runs a command line in the project's directory, as its README.md says it; fails with all that was printed when it fails. */
  async run(commandLine: string): Promise<string> {
    return execute(this.directory, "sh", ["-c", commandLine], {
      // What is installed follows no newer release than the SDK's own tests do.
      PIP_CONSTRAINT: join(root, "provider-sdk/python/requirements.txt"),
      PIP_DISABLE_PIP_VERSION_CHECK: "1",
      // What npx installs from this project is no other's.
      npm_config_cache: join(this.#parent, "npm"),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#parent, { recursive: true, force: true });
  }
}

const promiseExecFile = promisify(execFile);

async function execute(
  cwd: string,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  try {
    const options = { cwd, env: { ...process.env, ...env }, timeout: COMMAND_MS, maxBuffer: 64 * 1024 * 1024 };
    const { stdout } = await promiseExecFile(command, args, options);
    return stdout;
  } catch (error) {
    const printed = ["stdout", "stderr"].map((name) => (error instanceof Error ? Reflect.get(error, name) : ""));
    throw new Error(`\`${command} ${args.join(" ")}\` failed:\n${printed.join("")}`, { cause: error });
  }
}
