import { execFile } from "node:child_process";
import process from "node:process";
import { promisify } from "node:util";
import { ROOT } from "./checkout.ts";

const exec = promisify(execFile);

/** Builds the status page from its sources to where the controller looks for it. */
export async function buildStatusPage(signal: AbortSignal): Promise<void> {
  const args = ["--conditions=development", "status-page/scripts/build.ts"];
  try {
    await exec(process.execPath, args, { cwd: ROOT, signal });
  } catch (error) {
    // Its message has what the build wrote to its standard error.
    throw new Error(`the status page could not be built: ${String(error)}`, { cause: error });
  }
}
