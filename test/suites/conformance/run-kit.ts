import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Report } from "@cloudwire/conformance";
import { TestHost } from "./host.ts";
import type { Started, Subject } from "./subject.ts";

/** Longest time of one run unless its cloud needs more, many times what one takes; the kit says what it was at when it is ended. */
const RUN_MS = 600_000;
/** Several providers are tested at once, on machines that do more besides. */
const SLOW_FACTOR = "5";

/** The command that is the kit. */
const KIT = [
  process.execPath,
  "--conditions=development",
  fileURLToPath(new URL("../../../provider-sdk/conformance/src/main.ts", import.meta.url)),
] as const;

/** What came of a run of the kit. */
export interface KitRun {
  readonly code: number | null;
  /** Standard output and standard error. */
  readonly output: string;
  readonly report: Report;
}

/** Starts a provider's cloud and has the kit start, test and end the provider: every check that this machine can do, up to the level that is published. */
export async function runKit({ level, knownFailing, start }: Subject): Promise<KitRun> {
  await using host = await TestHost.create();
  const started = await start(host);
  const config = join(host.directory, "conformance.yaml");
  await writeFile(config, started.config);
  const args = ["run", "--level", level, "--yes", "--seed", "1", "--slow-factor", SLOW_FACTOR, "--config", config];
  const known = Object.keys(knownFailing).flatMap((id) => ["--known-failing", id]);
  // Awaited here, for the host ends with this function.
  return await runCommand(KIT, [...args, ...known], started, join(host.directory, "report"));
}

/** Runs a kit that is given, in the directory of the report. */
export async function runCommand(
  [kit, ...before]: readonly [string, ...string[]],
  args: readonly string[],
  { command, env = {}, runMs = RUN_MS }: Omit<Started, "config">,
  directory: string,
  kitEnv: NodeJS.ProcessEnv = process.env,
): Promise<KitRun> {
  await mkdir(directory, { recursive: true });
  const all = [...before, ...args, "--report", directory, "--", ...command];
  const { code, output } = await new Promise<Pick<KitRun, "code" | "output">>((resolve) => {
    const options = { env: { ...kitEnv, ...env }, timeout: runMs, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(kit, all, options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, output: `${stdout}${stderr}` }),
    );
  });
  const file = join(directory, "conformance.json");
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new Error(`the kit ended with code ${code} and wrote no report:\n${output}`, { cause: error });
  });
  const report: Report = JSON.parse(text);
  return { code, output, report };
}
