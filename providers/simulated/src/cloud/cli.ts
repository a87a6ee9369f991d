import { runProgram } from "../options/program.ts";
import { cloudEnvPrefix, cloudFlags, toCloudOptions } from "./cloud-flags.ts";
import { type Cloud, type CloudOptions, CloudOptionsError, startCloud } from "./start-cloud.ts";
import { StateFileError } from "./store/database.ts";

/** The program. Exit codes: 0 ended by a signal or --help, 2 wrong options, 1 anything else. */
export async function runCli(): Promise<void> {
  await runProgram({
    name: "simcloud",
    flags: cloudFlags,
    envPrefix: cloudEnvPrefix,
    usage: "Usage: simcloud [options]\n\nA simulated cloud: HTTP API under /v1, its behavior is set under /admin/v1.",
    problemExitCode: 2,
    toOptions: toCloudOptions,
    run,
    isForUser: (error): error is Error => error instanceof CloudOptionsError || error instanceof StateFileError,
  });
}

async function run(options: CloudOptions): Promise<void> {
  const cloud = await startCloud(options);
  endOnSignal(cloud);
  // One line that a parent process waits for: everything before it may still fail.
  process.stdout.write(`simcloud ready ${cloud.url}\n`);
}

function endOnSignal(cloud: Cloud): void {
  const end = (): void => {
    // A second signal meets no handler any more and ends the process at once.
    process.off("SIGTERM", end).off("SIGINT", end);
    void cloud.close();
  };
  process.on("SIGTERM", end).on("SIGINT", end);
}
