import { ControlPlaneError, writeModuleFile } from "@cloudwire/control-plane";
import { readUpstreamVersion, upstreamTarget } from "./module.ts";

// Command: derives test/programs/upstream-ccm/go.mod from the version of Kubernetes in the argument (`1.37.2`), or from its own.
try {
  const [kubernetes = (await readUpstreamVersion()).kubernetes] = process.argv.slice(2);
  await writeModuleFile({ kubernetes }, upstreamTarget());
  console.log(`go.mod: Kubernetes v${kubernetes}`);
} catch (error) {
  if (!(error instanceof ControlPlaneError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
