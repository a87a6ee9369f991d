import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import {
  buildGoModule,
  ControlPlaneError,
  goBuildArgs,
  type GoModule,
  type KubernetesVersion,
  type ModuleTarget,
} from "@cloudwire/control-plane";

/** The directory of the Go module with upstream's controllers. */
export const upstreamDir: string = fileURLToPath(new URL("../../../programs/upstream-ccm", import.meta.url));

const modfile = "go.mod";

type UpstreamVersion = Pick<KubernetesVersion, "minor" | "kubernetes">;

/** Builds upstream's cloud-controller-manager where it is not up to date; answers its path. */
export async function buildUpstream(): Promise<string> {
  const module = upstreamModule(await readUpstreamVersion());
  await buildGoModule(module);
  return path.join(module.binDir, "cloud-controller-manager");
}

/** The version of upstream that this repository compares itself with: that of the module's go.mod. */
export async function readUpstreamVersion(): Promise<UpstreamVersion> {
  return parseUpstreamVersion(await readFile(path.join(upstreamDir, modfile), "utf8"));
}

/** @param text of a go.mod */
export function parseUpstreamVersion(text: string): UpstreamVersion {
  const kubernetes = /^\tk8s\.io\/kubernetes v(1\.\S+)$/m.exec(text)?.[1];
  if (kubernetes === undefined) {
    throw new ControlPlaneError(
      "UNEXPECTED_CONTENT",
      `${modfile} of upstream's controllers requires no k8s.io/kubernetes`,
    );
  }
  return { kubernetes, minor: kubernetes.split(".").slice(0, 2).join(".") };
}

/** The module's go.mod; `npm run upstream` writes it. */
export function upstreamTarget(): ModuleTarget {
  return { dir: upstreamDir, path: "cloudwire.dev/test/programs/upstream-ccm", modfile, requires: [] };
}

function upstreamModule({ kubernetes, minor }: UpstreamVersion): GoModule {
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
