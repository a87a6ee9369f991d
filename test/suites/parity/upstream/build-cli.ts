import { ControlPlaneError } from "@cloudwire/control-plane";
import { buildUpstream } from "./module.ts";

// Command: builds upstream's cloud-controller-manager.
try {
  console.log(await buildUpstream());
} catch (error) {
  if (!(error instanceof ControlPlaneError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
