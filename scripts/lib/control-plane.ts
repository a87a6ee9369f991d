import { run } from "./run.ts";

/**
 * Builds the real control plane's binaries where they are not there yet; takes minutes the first time. Answers why that
 * cannot be done here, or nothing when they are ready.
 */
export async function prepareControlPlane(): Promise<string | undefined> {
  console.log("\nMaking the control plane's binaries ready (the first build takes some minutes) …");
  const { code } = await run("npm", ["run", "--silent", "binaries", "-w", "@cloudwire/control-plane"], {
    output: "show",
  });
  return code === 0 ? undefined : `the control plane's binaries could not be built (exit ${code}, see above)`;
}
