import { ControlPlaneError, readVersion, writeModuleFile } from "@cloudwire/control-plane";
import { upstreamTarget } from "./module.ts";

// Command: derives test/programs/upstream-ccm/go.mod from the control plane's default version.
try {
  const version = await readVersion();
  await writeModuleFile(version, upstreamTarget());
  console.log(`go.mod: Kubernetes v${version.kubernetes}`);
} catch (error) {
  if (!(error instanceof ControlPlaneError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
