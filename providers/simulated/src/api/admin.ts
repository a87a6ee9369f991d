import { Type, type Static } from "typebox";

const Ms = Type.Integer({ minimum: 0, maximum: 86_400_000 });
const OperationPattern = Type.String({ pattern: "^[a-zA-Z.*]+$" });

/** How long an operation takes: `fixedMs` plus up to `jitterMs`. */
export const Latency = Type.Object({ fixedMs: Ms, jitterMs: Ms }, { additionalProperties: false });
export type Latency = Static<typeof Latency>;

/** Everything about the cloud's behavior that can be set while it runs. Kept over restarts. */
export const Settings = Type.Object(
  {
    /** By operation pattern (`instances.*`); the longest pattern that fits wins. */
    latency: Type.Record(OperationPattern, Latency),
    /**
     * Maximum concurrent calls of an account; others are queued. By operation
     * pattern, as latency: what fits it stands in one line.
     */
    concurrency: Type.Record(OperationPattern, Type.Integer({ minimum: 1 })),
    /** How many of each an account may have. */
    quotas: Type.Object(
      {
        instances: Type.Integer({ minimum: 0 }),
        loadBalancers: Type.Integer({ minimum: 0 }),
        routes: Type.Integer({ minimum: 0 }),
        volumes: Type.Integer({ minimum: 0 }),
      },
      { additionalProperties: false },
    ),
    /** Token bucket an account; perSecond 0 = no limit. */
    rateLimit: Type.Object(
      { perSecond: Type.Number({ minimum: 0 }), burst: Type.Integer({ minimum: 1 }) },
      { additionalProperties: false },
    ),
    /** By how much reads that are not `consistent` lag behind. */
    consistency: Type.Object({ listLagMs: Ms, getLagMs: Ms }, { additionalProperties: false }),
    /** Durations of the cloud's background work. */
    delays: Type.Object(
      {
        instanceStartMs: Ms,
        instanceStopMs: Ms,
        instanceTerminateMs: Ms,
        /** How long a terminated instance can still be read. */
        tombstoneMs: Ms,
        loadBalancerCreateMs: Ms,
        loadBalancerUpdateMs: Ms,
        loadBalancerDeleteMs: Ms,
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);
export type Settings = Static<typeof Settings>;

/** A partial update of the settings; omitted fields are not changed. `latency` and `concurrency` are replaced as a whole. */
export const SettingsPatch = Type.Object(
  {
    latency: Type.Optional(Settings.properties.latency),
    concurrency: Type.Optional(Settings.properties.concurrency),
    quotas: Type.Optional(Type.Partial(Settings.properties.quotas)),
    rateLimit: Type.Optional(Type.Partial(Settings.properties.rateLimit)),
    consistency: Type.Optional(Type.Partial(Settings.properties.consistency)),
    delays: Type.Optional(Type.Partial(Settings.properties.delays)),
  },
  { additionalProperties: false },
);
export type SettingsPatch = Static<typeof SettingsPatch>;

/** Faults that replace the answer. */
export const replacingFaultKinds = [
  "unauthenticated",
  "forbidden",
  "rateLimited",
  "quotaExceeded",
  "internalError",
  "unavailable",
  "hang",
  "reset",
  "malformed",
] as const;
/** Faults that spoil the data in the answer. */
const spoilingFaultKinds = ["emptyList", "truncatedPage", "staleReplica", "zoneOutage", "falseAbsence"] as const;
export const faultKinds = [...replacingFaultKinds, ...spoilingFaultKinds] as const;
export const FaultKind = Type.Enum(faultKinds);
export type FaultKind = Static<typeof FaultKind>;

export const FaultSpec = Type.Object(
  {
    kind: FaultKind,
    /** Operations it strikes: `instances.lookup`, `instances.*`, `*` (default). */
    operation: Type.Optional(OperationPattern),
    /** Ends after so many strikes. */
    count: Type.Optional(Type.Integer({ minimum: 1 })),
    /** Ends after so long. */
    durationMs: Type.Optional(Type.Integer({ minimum: 1 })),
    /** 0 to 1, default 1. */
    probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    /** "after": the operation is carried out, then its answer is lost. For errors, hang and reset. */
    phase: Type.Optional(Type.Enum(["before", "after"])),
    /** Of rateLimited and unavailable. */
    retryAfterSeconds: Type.Optional(Type.Integer({ minimum: 0 })),
    /** Of staleReplica: how old the data is. */
    staleMs: Type.Optional(Type.Integer({ minimum: 1 })),
    /** Of zoneOutage. */
    zone: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type FaultSpec = Static<typeof FaultSpec>;

export const Fault = Type.Object({
  ...FaultSpec.properties,
  id: Type.String(),
  strikes: Type.Integer(),
  createdAt: Type.String(),
});
export type Fault = Static<typeof Fault>;
export const Faults = Type.Object({ items: Type.Array(Fault) });

const OperationCalls = Type.Object({
  operation: Type.String(),
  mutating: Type.Boolean(),
  calls: Type.Integer(),
  inFlight: Type.Integer(),
  /** By HTTP status; "0" counts calls that never got an answer. */
  byStatus: Type.Record(Type.String(), Type.Integer()),
});

/** Calls of the API since the start or the last reset; admin calls are not counted. */
export const Calls = Type.Object({
  total: Type.Integer(),
  mutating: Type.Integer(),
  operations: Type.Array(OperationCalls),
});
export type Calls = Static<typeof Calls>;

/** When each instance was last asked about, by its id: alone, in a batch, or as part of a list that shows it. */
export const AskedInstances = Type.Object({ askedMs: Type.Record(Type.String(), Type.Number()) });
export type AskedInstances = Static<typeof AskedInstances>;

export const LoggedCall = Type.Object({
  time: Type.String(),
  operation: Type.String(),
  mutating: Type.Boolean(),
  account: Type.Optional(Type.String()),
  requestId: Type.String(),
  /** 0: never answered. */
  status: Type.Integer(),
  durationMs: Type.Number(),
  /** Kinds of the faults that struck. */
  faults: Type.Array(FaultKind),
  method: Type.String(),
  path: Type.String(),
});
export type LoggedCall = Static<typeof LoggedCall>;
export const CallLog = Type.Object({ items: Type.Array(LoggedCall) });
export type CallLog = Static<typeof CallLog>;
export const CallLogQuery = Type.Object(
  { last: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })) },
  { additionalProperties: false },
);

export const AccountSpec = Type.Object(
  {
    id: Type.String({ pattern: "^[a-z0-9-]{1,63}$" }),
    key: Type.String({ minLength: 1, maxLength: 256 }),
    /** A viewer may only read. */
    role: Type.Optional(Type.Enum(["editor", "viewer"])),
  },
  { additionalProperties: false },
);
export type AccountSpec = Static<typeof AccountSpec>;

/** A key that the cloud no longer knows. */
export const KeySpec = Type.Object({ key: AccountSpec.properties.key }, { additionalProperties: false });

/** A machine of the first account, by its name: what a conformance run makes, stops and terminates. */
export const MachineSpec = Type.Object(
  { nodeName: Type.String({ minLength: 1, maxLength: 253 }), zone: Type.Optional(Type.String()) },
  { additionalProperties: false },
);
export const Machine = Type.Object({ providerId: Type.String(), nodeName: Type.String() });
export type Machine = Static<typeof Machine>;
