import path from "node:path";
import { fileURLToPath } from "node:url";
import {
  buildGoModule,
  goBuildArgs,
  type GoModule,
  type KubernetesVersion,
  type ModuleTarget,
  readVersion,
} from "@cloudwire/control-plane";

/** The directory of the Go module with upstream's controllers. */
export const upstreamDir: string = fileURLToPath(new URL("../../../programs/upstream-ccm", import.meta.url));

const modfile = "go.mod";

/** Builds upstream's cloud-controller-manager where it is not up to date; answers its path. */
export async function buildUpstream(): Promise<string> {
  const module = upstreamModule(await readVersion());
  await buildGoModule(module);
  return path.join(module.binDir, "cloud-controller-manager");
}

/** The go.mod of the version that the control plane has by default. */
export function upstreamTarget(): ModuleTarget {
  return { dir: upstreamDir, path: "cloudwire.dev/test/programs/upstream-ccm", modfile, requires: [] };
}

function upstreamModule(version: KubernetesVersion): GoModule {
  const { kubernetes, minor } = version;
  return {
    name: `upstream's controllers ${minor}`,
    dir: upstreamDir,
    modfile,
    commands: "cmd",
    shared: ["internal"],
    binDir: path.join(upstreamDir, "bin"),
    seed: { kubernetes },
    goArgs: goBuildArgs({ kubernetes, minor, modfile }),
    about: `Kubernetes v${kubernetes}; the first time takes up to 3 minutes on 2 free cores, later ones seconds`,
  };
}
