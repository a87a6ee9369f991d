import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The two programs of the product. */
export type OwnProgram = "cloudwire-controller-manager" | "cloudwire-provider-simulated";

/** Those, and that of its operators. */
export type ShippedProgram = OwnProgram | "cloudwire";

/** Makes the programs as they are shipped, each in a directory of its own below this one. */
export async function makeBundles(directory: string): Promise<void> {
  const script = fileURLToPath(new URL("../../scripts/build/bundle/main.ts", import.meta.url));
  await promisify(execFile)(process.execPath, ["--conditions=development", script, `--out=${directory}`]);
}

/** The file that starts the program. */
export function bundledProgram(directory: string, name: ShippedProgram): string {
  return join(directory, name, `${name}.mjs`);
}

/** Makes the status page where a controller that runs from its sources looks for it. */
export async function makeStatusPage(): Promise<void> {
  const script = fileURLToPath(new URL("../../status-page/scripts/build.ts", import.meta.url));
  await promisify(execFile)(process.execPath, ["--conditions=development", script]);
}
