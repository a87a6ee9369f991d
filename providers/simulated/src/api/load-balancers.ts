import { Type, type Static } from "typebox";
import { listQuery, Metadata, Name, pageOf, ResourceId, resourceFields, Revision, Tags, Timestamp } from "./common.ts";

export const loadBalancerClasses = ["standard", "internal"] as const;
const LoadBalancerClass = Type.Enum(loadBalancerClasses);

const loadBalancerStates = ["provisioning", "active", "updating", "failed", "deleting"] as const;

const Port = Type.Integer({ minimum: 1, maximum: 65_535 });

export const ListenerSpec = Type.Object(
  { port: Port, protocol: Type.Enum(["tcp"]), targetPort: Port },
  { additionalProperties: false },
);
export type ListenerSpec = Static<typeof ListenerSpec>;

const listenerStatuses = ["pending", "listening", "failed"] as const;

export const Listener = Type.Object({
  port: Port,
  protocol: Type.Enum(["tcp"]),
  targetPort: Port,
  /** The port that is really listened on: `port` plus the cloud's listenPortOffset. */
  boundPort: Type.Integer(),
  status: Type.Enum(listenerStatuses),
  /** Why it failed: PortInUse, PortNotPermitted or AddressNotAvailable, with the system's words. */
  reason: Type.Optional(Type.String()),
});
export type Listener = Static<typeof Listener>;

/** How targets are asked whether they want traffic; those that do not are left out. */
const HealthCheck = Type.Object(
  {
    protocol: Type.Enum(["tcp", "http"]),
    port: Port,
    /** Of "http": answers 200 while the target wants traffic. Default "/". */
    path: Type.Optional(Type.String({ pattern: "^/", maxLength: 1024 })),
  },
  { additionalProperties: false },
);

const settings = {
  listeners: Type.Array(ListenerSpec, { maxItems: 100 }),
  /** Client networks let in, CIDR. Empty: everybody. */
  sourceRanges: Type.Array(Type.String(), { maxItems: 100 }),
  sessionAffinity: Type.Enum(["none", "clientIp"]),
  idleTimeoutMs: Type.Integer({ minimum: 100, maximum: 3_600_000 }),
  /** No deletion while true. */
  protected: Type.Boolean(),
  tags: Tags,
  metadata: Metadata,
};

export const LoadBalancerSpec = Type.Object(
  {
    name: Name,
    class: Type.Optional(LoadBalancerClass),
    region: Type.Optional(Type.String()),
    /** A fixed address out of the pool of the class. */
    requestedAddress: Type.Optional(Type.String()),
    listeners: settings.listeners,
    sourceRanges: Type.Optional(settings.sourceRanges),
    sessionAffinity: Type.Optional(settings.sessionAffinity),
    idleTimeoutMs: Type.Optional(settings.idleTimeoutMs),
    healthCheck: Type.Optional(HealthCheck),
    protected: Type.Optional(settings.protected),
    tags: Type.Optional(settings.tags),
    metadata: Type.Optional(settings.metadata),
    /** Instance ids. */
    targets: Type.Optional(Type.Array(ResourceId, { maxItems: 20_000, uniqueItems: false })),
  },
  { additionalProperties: false },
);
export type LoadBalancerSpec = Static<typeof LoadBalancerSpec>;

export const LoadBalancerPatch = Type.Object(
  {
    listeners: Type.Optional(settings.listeners),
    sourceRanges: Type.Optional(settings.sourceRanges),
    sessionAffinity: Type.Optional(settings.sessionAffinity),
    idleTimeoutMs: Type.Optional(settings.idleTimeoutMs),
    /** null takes the check away. */
    healthCheck: Type.Optional(Type.Union([HealthCheck, Type.Null()])),
    protected: Type.Optional(settings.protected),
    tags: Type.Optional(settings.tags),
    metadata: Type.Optional(settings.metadata),
  },
  { additionalProperties: false, minProperties: 1 },
);
export type LoadBalancerPatch = Static<typeof LoadBalancerPatch>;

export const LoadBalancerRecord = Type.Object({
  ...resourceFields,
  class: LoadBalancerClass,
  region: Type.String(),
  address: Type.String(),
  hostname: Type.String(),
  state: Type.Enum(loadBalancerStates),
  stateReason: Type.String(),
  listeners: Type.Array(Listener),
  sourceRanges: settings.sourceRanges,
  sessionAffinity: settings.sessionAffinity,
  idleTimeoutMs: settings.idleTimeoutMs,
  healthCheck: Type.Optional(HealthCheck),
  protected: settings.protected,
  metadata: Metadata,
  /** How many targets; the targets themselves are read from their own path. */
  targetCount: Type.Integer(),
  /** SHA-256, in hex, of the target ids in ascending order, each followed by a line feed. */
  targetsDigest: Type.String(),
  /** The operation under way. */
  operationId: Type.Optional(Type.String()),
});
export type LoadBalancerRecord = Static<typeof LoadBalancerRecord>;

export const LoadBalancer = Type.Intersect([LoadBalancerRecord, Revision]);
export type LoadBalancer = Static<typeof LoadBalancer>;

export const LoadBalancerListQuery = Type.Object(listQuery, { additionalProperties: false });
export const LoadBalancerPage = pageOf(LoadBalancer);
export type LoadBalancerPage = Static<typeof LoadBalancerPage>;

/** Change only if the load balancer still has this revision. */
export const IfRevision = Type.Object({ ifRevision: Type.Optional(Type.Integer()) }, { additionalProperties: false });

export const ReplaceTargets = Type.Object(
  { targets: Type.Array(ResourceId, { maxItems: 20_000 }), metadata: Type.Optional(Metadata) },
  { additionalProperties: false },
);
export const ChangeTargets = Type.Object(
  {
    add: Type.Optional(Type.Array(ResourceId, { maxItems: 20_000 })),
    remove: Type.Optional(Type.Array(ResourceId, { maxItems: 20_000 })),
    metadata: Type.Optional(Metadata),
  },
  { additionalProperties: false },
);
export type ChangeTargets = Static<typeof ChangeTargets>;
export const Targets = Type.Object({
  items: Type.Array(Type.Object({ instanceId: Type.String(), address: Type.Optional(Type.String()) })),
});

export type Targets = Static<typeof Targets>;

export const OperationRecord = Type.Object({
  ...resourceFields,
  type: Type.Enum(["loadBalancer.create", "loadBalancer.update", "loadBalancer.delete"]),
  resourceId: Type.String(),
  state: Type.Enum(["running", "done", "failed"]),
  expectedEndAt: Timestamp,
  message: Type.String(),
});
export type OperationRecord = Static<typeof OperationRecord>;

export const Operation = Type.Intersect([
  OperationRecord,
  Revision,
  Type.Object({ progressPercent: Type.Integer({ minimum: 0, maximum: 100 }) }),
]);
export type Operation = Static<typeof Operation>;

export const LoadBalancerChange = Type.Object({
  loadBalancer: LoadBalancer,
  operation: Type.Optional(Operation),
  /** Targets that belong to no instance of the account, or to a terminated one: they were left out. */
  ignoredTargets: Type.Array(Type.String()),
});
export type LoadBalancerChange = Static<typeof LoadBalancerChange>;
