export { faultKinds } from "./api/admin.ts";
export type {
  AccountSpec,
  Calls,
  Fault,
  FaultKind,
  FaultSpec,
  Latency,
  LoggedCall,
  Settings,
  SettingsPatch,
} from "./api/admin.ts";
export type { Instance, InstanceSpec } from "./api/instances.ts";
export type { LoadBalancer, LoadBalancerSpec } from "./api/load-balancers.ts";
export type { Route, RouteSpec } from "./api/routes.ts";
export type { Volume, VolumeSpec } from "./api/volumes.ts";
export { AdminClient, type AdminClientOptions } from "./client/admin-client.ts";
export { CloudClient, type CloudClientOptions } from "./client/cloud-client.ts";
export { type CallFailure, CloudCallError } from "./client/http.ts";
export { type Cloud, type CloudOptions, CloudOptionsError, startCloud } from "./cloud/start-cloud.ts";
export type { Geography, Region } from "./cloud/geography.ts";
export type { Child } from "./processes/child.ts";
export { spawnCloud, type SpawnCloudOptions, type SpawnedCloud } from "./processes/spawn-cloud.ts";
export { spawnSidecar, type SpawnedSidecar, type SpawnSidecarOptions } from "./processes/spawn-sidecar.ts";
export { createSimulatedProvider } from "./sidecar/provider.ts";
export type { CloudAccessOptions } from "./sidecar/cloud-access.ts";
export { loopbackPools, type LoopbackPools } from "./processes/loopback-pools.ts";
