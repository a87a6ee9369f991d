export { isSameInstance } from "./util/provider-id.ts";
export { type AnnotationNames, AnnotationReader } from "./annotations/annotation-reader.ts";
export { type IfCheaperOptions, SharedRead, type TimedRead } from "./cloud/shared-read.ts";
export type {
  BackgroundContext,
  CallContext,
  ChangeContext,
  CloudCall,
  CloudFetch,
  CloudRequestInit,
  Progress,
  ReadContext,
} from "./definition/call-context.ts";
export type {
  Cluster,
  Condition,
  Diagnostic,
  IpFamily,
  ListFeatures,
  NodeAddress,
  NodeAddresses,
  NodeAddressType,
  PlannedChange,
  Protocol,
  WatchFeatures,
} from "./definition/common.ts";
export type {
  BatchInstanceHandlers,
  Instance,
  InstanceResult,
  InstanceBatchResult,
  InstanceEvent,
  InstanceFeatures,
  InstanceHandlers,
  InstanceState,
  NodeRef,
  SingleInstanceHandlers,
  WatchBookmark,
  WatchResync,
} from "./definition/instances.ts";
export type {
  HealthCheck,
  LoadBalancerRef,
  NodesDiff,
  ServicePort,
  ServiceRef,
  TargetNode,
  DesiredLoadBalancer,
  DesiredNodes,
  WatchRequest,
} from "./definition/requests.ts";
export type {
  GetLoadBalancer,
  ListLoadBalancers,
  LoadBalancer,
  LoadBalancerEvent,
  LoadBalancerFeatures,
  LoadBalancerHandlers,
  LoadBalancerIngress,
  LoadBalancerPhase,
  UnregisteredNode,
} from "./definition/load-balancers.ts";
export {
  type AbsenceBasis,
  type Absent,
  type AbsentOptions,
  absent,
  type NotOwned,
  notOwned,
  type Pending,
  type PendingOptions,
  pending,
  type ResumeFrom,
  resumeFrom,
  type Unreachable,
  unreachable,
} from "./results/results.ts";
export type {
  AnnotationSchema,
  CallRate,
  CheckResult,
  ProviderDefinition,
  ProviderLimits,
  QuotaClass,
  RateLimit,
} from "./definition/provider.ts";
export type {
  DeleteRoute,
  DeleteRoutes,
  EnsureRoute,
  EnsureRoutes,
  Route,
  RouteBatchResult,
  RouteChangeContext,
  RouteDeleteResult,
  RouteFeatures,
  RouteHandlers,
  RouteListContext,
  RouteQuota,
  DesiredRoute,
} from "./definition/routes.ts";
export type {
  TopologyRequirement,
  Volume,
  VolumeResult,
  VolumeBatchResult,
  VolumeFeatures,
  VolumeHandlers,
  VolumeRef,
  VolumeSource,
} from "./definition/volumes.ts";
export {
  type ErrorCode,
  type FieldViolation,
  ProviderError,
  type ProviderErrorOptions,
  type VendorReason,
} from "./results/errors.ts";
export { parseRetryAfter } from "./cloud/retries.ts";
export { createLogger, type LogFields, type Logger, type LoggerOptions, type LogLevel } from "./telemetry/log.ts";
export {
  ownershipConflict,
  type OwnershipTags,
  ownershipTagsOf,
  type TaggedObject,
  taggedService,
} from "./ownership/ownership-tags.ts";
export type { Endpoint } from "./server/listen/endpoint.ts";
export type { HttpAddress } from "./server/listen/http-port.ts";
export { type ServeOptions, serveProvider } from "./server/serve-provider.ts";
export { currentContext } from "./server/current-context.ts";
export { ProviderStartError } from "./server/start-error.ts";
export { type RunningProvider, type StartOptions, startProvider } from "./server/start-provider.ts";
export { chunksOf } from "./util/parallel.ts";
export type { Clock } from "./util/clock.ts";
export { inHalves, inParallel } from "./util/parallel.ts";
export { type WatchFromListOptions, watchFromList } from "./state/watch-from-list.ts";
