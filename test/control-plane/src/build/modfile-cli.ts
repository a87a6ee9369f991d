import { ControlPlaneError } from "../errors.ts";
import { controlPlaneTarget, writeModuleFile } from "./modfile.ts";
import { readVersion } from "./versions.ts";

// Command: derives the go.mod of the minors named as arguments (or of the default one) from versions.json.
const minors = process.argv.slice(2);
try {
  for (const minor of minors.length === 0 ? [undefined] : minors) {
    const version = await readVersion(minor);
    await writeModuleFile(version, controlPlaneTarget(version));
    console.log(`${version.modfile}: Kubernetes v${version.kubernetes}, etcd v${version.etcd}`);
  }
} catch (error) {
  if (!(error instanceof ControlPlaneError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
