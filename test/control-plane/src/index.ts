export type { AuditEvent, AuditOptions } from "./audit.ts";
export {
  type Availability,
  type Binaries,
  type BuildOptions,
  buildControlPlane,
  buildKubelet,
  controlPlaneAvailability,
  goBuildArgs,
} from "./build/build.ts";
export { type KeyPair, makeCertificates } from "./credentials/certificates.ts";
export type { ControlPlane, ProcessInfo } from "./control-plane.ts";
export { ControlPlaneError, type ControlPlaneErrorCode } from "./errors.ts";
export { buildGoModule, type GoModule } from "./build/go-module.ts";
export type { Kubeconfig } from "./credentials/kubeconfig.ts";
export type { KubectlOptions } from "./kubectl.ts";
export { type ModuleTarget, writeModuleFile } from "./build/modfile.ts";
export type { ControllerManagerOptions, ControlPlaneOptions, HollowNodeOptions, Taint } from "./options.ts";
export { startControlPlane } from "./start.ts";
export { type KubernetesVersion, readVersion } from "./build/versions.ts";
