import { run } from "../lib/run.ts";

/**
 * Builds the real control plane's binaries where they are not there yet; takes minutes the first time. Answers why that
 * cannot be done here, or nothing when they are ready.
 *
 * @param minors of Kubernetes; the one that is selected when none is given
 */
export async function prepareControlPlane(minors: readonly string[] = []): Promise<string | undefined> {
  return build("the control plane's binaries", "@cloudwire/control-plane", minors);
}

/** Likewise upstream's controllers, which the parity suite runs beside ours. */
export async function prepareUpstream(): Promise<string | undefined> {
  return build("upstream's controllers", "@cloudwire/test");
}

/** Likewise the kubelet, which one suite runs. */
export async function prepareKubelet(): Promise<string | undefined> {
  return build("the kubelet", "@cloudwire/control-plane", ["--kubelet"]);
}

async function build(what: string, workspace: string, args: readonly string[] = []): Promise<string | undefined> {
  console.log(`\nMaking ${what} ready (the first build takes some minutes) …`);
  const { code } = await run("npm", ["run", "--silent", "binaries", "-w", workspace, "--", ...args], {
    output: "show",
  });
  return code === 0 ? undefined : `${what} could not be built (exit ${code}, see above)`;
}
