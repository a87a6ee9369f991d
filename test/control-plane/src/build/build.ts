import path from "node:path";
import { buildGoModule, findGo, type GoBuildOptions, type GoModule, isGoModuleBuilt } from "./go-module.ts";
import { type KubernetesVersion, moduleDir, readVersion } from "./versions.ts";

export interface BuildOptions extends GoBuildOptions {
  /** Minor of Kubernetes, a key of versions.json; the default one of that file when absent. */
  readonly minor?: string | undefined;
}

/** The programs of one minor, ready to run. */
export interface Binaries {
  readonly version: KubernetesVersion;
  readonly dir: string;
}

/** Whether a control plane can be had here, so that a suite can say why it is skipped. */
export type Availability =
  | { readonly kind: "built" }
  | { readonly kind: "buildable"; readonly goVersion: string }
  | { readonly kind: "missing"; readonly reason: string };

/** Builds what has changed since the last build, which is nothing in most cases: then it takes some milliseconds. */
export async function buildControlPlane(options: BuildOptions = {}): Promise<Binaries> {
  const version = await readVersion(options.minor);
  const module = controlPlaneModule(version);
  await buildGoModule(module, options);
  return { version, dir: module.binDir };
}

/** Builds the kubelet, which no control plane needs: it runs real containers, and takes 6 minutes and 90 MB the first time. */
export async function buildKubelet(options: BuildOptions = {}): Promise<Binaries> {
  const version = await readVersion(options.minor);
  const module: GoModule = {
    ...controlPlaneModule(version),
    name: `kubelet ${version.minor}`,
    commands: "kubelet",
    binDir: path.join(moduleDir, "bin", `${version.minor}-kubelet`),
    about: `Kubernetes v${version.kubernetes}; the first time takes about 6 minutes on 2 free cores, later ones seconds`,
  };
  await buildGoModule(module, options);
  return { version, dir: module.binDir };
}

export async function controlPlaneAvailability(minor?: string): Promise<Availability> {
  if (await isGoModuleBuilt(controlPlaneModule(await readVersion(minor)))) return { kind: "built" };
  const goVersion = await findGo(moduleDir);
  if (goVersion !== undefined) return { kind: "buildable", goVersion };
  return { kind: "missing", reason: "the control plane is not built and there is no Go toolchain (`go`) in PATH" };
}

function controlPlaneModule(version: KubernetesVersion): GoModule {
  return {
    name: `control plane ${version.minor}`,
    dir: moduleDir,
    modfile: version.modfile,
    commands: "cmd",
    shared: ["internal"],
    binDir: path.join(moduleDir, "bin", version.minor),
    // A new minor in versions.json must not rebuild the others.
    seed: version,
    goArgs: goBuildArgs(version),
    about:
      `Kubernetes v${version.kubernetes} and etcd v${version.etcd}; ` +
      "the first time takes about 5 minutes on 2 free cores and 3 GB of cache, later ones seconds",
  };
}

/** kube-apiserver refuses to start without a version, and `go build` knows none for a dependency. */
export function goBuildArgs(version: Pick<KubernetesVersion, "minor" | "kubernetes" | "modfile">): readonly string[] {
  const [major, minor] = version.minor.split(".");
  const at = "k8s.io/component-base/version";
  const values = [`gitVersion=v${version.kubernetes}`, `gitMajor=${major}`, `gitMinor=${minor}`];
  const linkFlags = ["-s", "-w", ...values.flatMap((value) => ["-X", `${at}.${value}`])];
  return ["build", "-trimpath", "-buildvcs=false", `-modfile=${version.modfile}`, "-ldflags", linkFlags.join(" ")];
}
