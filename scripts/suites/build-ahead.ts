import { spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "../lib/run.ts";

/** What a suite will ask for when it is made ready, without the rest of that. */
const SCRIPT = "scripts/suites/build-programs.ts";

/** The least that the kernel gives: what else runs does not notice. */
const LOWEST_PRIORITY = "19";

/**
 * Begins to build what the suites need, while other suites run that mostly wait. It only fills caches; an error is reported when
 * the suite itself is prepared.
 *
 * @returns a promise of its end, whatever became of it
 */
export function buildAhead(suites: readonly string[]): Promise<void> {
  const args = ["-n", LOWEST_PRIORITY, process.execPath, "--conditions=development", join(ROOT, SCRIPT), ...suites];
  return new Promise((resolve) => {
    const child = spawn("nice", args, { cwd: ROOT, stdio: "ignore" });
    const end = (): void => void child.kill();
    process.once("exit", end);
    const settle = (): void => {
      process.off("exit", end);
      resolve();
    };
    child.once("error", settle);
    child.once("close", settle);
  });
}
