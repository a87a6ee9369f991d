import { writeFileSync } from "node:fs";
import { ControlPlaneError } from "@cloudwire/control-plane";
import { KNOWN_FLAGS } from "./known-flags.ts";
import { readUpstreamFlags } from "./upstream-flags.ts";

// Command: writes what upstream's binary says of its flags to where the controller's tests and pages read it.
try {
  const known = await readUpstreamFlags();
  writeFileSync(KNOWN_FLAGS, `${JSON.stringify(known, undefined, 2)}\n`);
  console.log(`${known.flags.length} flags of Kubernetes ${known.version}`);
} catch (error) {
  if (!(error instanceof ControlPlaneError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
