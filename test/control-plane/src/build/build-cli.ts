import { parseArgs } from "node:util";
import { buildControlPlane, buildKubelet } from "./build.ts";
import { ControlPlaneError } from "../errors.ts";

// Command: builds the minors named as arguments, or the default one; with --kubelet, the kubelet of them.
const { values, positionals: minors } = parseArgs({
  options: { kubelet: { type: "boolean" } },
  allowPositionals: true,
});
const build = values.kubelet === true ? buildKubelet : buildControlPlane;
try {
  for (const minor of minors.length === 0 ? [undefined] : minors) {
    const { dir } = await build({ minor });
    console.log(dir);
  }
} catch (error) {
  if (!(error instanceof ControlPlaneError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
