import { formatHelp, parseFlags } from "../options/flags.ts";
import { cloudEnvPrefix, cloudFlags, toCloudOptions } from "./cloud-flags.ts";
import { type Cloud, type CloudOptions, CloudOptionsError, startCloud } from "./start-cloud.ts";
import { StateFileError } from "./store/database.ts";

const usage =
  "Usage: simcloud [options]\n\nA simulated cloud: HTTP API under /v1, its behaviour is set under /admin/v1.";

/** The program. Exit codes: 0 ended by a signal or --help, 2 wrong options, 1 anything else. */
export async function runCli(): Promise<void> {
  const parsed = parseFlags(cloudFlags, { argv: process.argv.slice(2), env: process.env, envPrefix: cloudEnvPrefix });
  switch (parsed.kind) {
    case "help":
      process.stdout.write(formatHelp(cloudFlags, cloudEnvPrefix, usage));
      return;
    case "problem":
      fail([parsed.problem]);
      return;
    case "values": {
      const options = toCloudOptions(parsed.values);
      if (options.kind === "problems") fail(options.problems);
      else await run(options.options);
      return;
    }
  }
  parsed satisfies never;
}

async function run(options: CloudOptions): Promise<void> {
  try {
    const cloud = await startCloud(options);
    endOnSignal(cloud);
    // One line that a parent process waits for: everything before it may still fail.
    process.stdout.write(`simcloud ready ${cloud.url}\n`);
  } catch (error) {
    if (!(error instanceof CloudOptionsError) && !(error instanceof StateFileError)) throw error;
    fail([error.message]);
  }
}

function endOnSignal(cloud: Cloud): void {
  const end = (): void => {
    // A second signal meets no handler any more and ends the process at once.
    process.off("SIGTERM", end).off("SIGINT", end);
    void cloud.close();
  };
  process.on("SIGTERM", end).on("SIGINT", end);
}

function fail(problems: readonly string[]): void {
  for (const problem of problems) process.stderr.write(`simcloud: ${problem}\n`);
  process.exitCode = 2;
}
