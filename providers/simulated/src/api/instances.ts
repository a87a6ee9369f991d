import { Type, type Static } from "typebox";
import { listQuery, lookupOf, Name, pageOf, ResourceId, resourceFields, Revision, Tags, Timestamp } from "./common.ts";

const instanceStates = ["pending", "running", "stopping", "stopped", "terminating", "terminated"] as const;
export const InstanceState = Type.Enum(instanceStates);
export type InstanceState = Static<typeof InstanceState>;

export const InstanceRecord = Type.Object({
  ...resourceFields,
  type: Type.String(),
  region: Type.String(),
  zone: Type.String(),
  hostname: Type.String(),
  state: InstanceState,
  /** Why it is in this state; empty when it is the ordinary course. */
  stateReason: Type.String(),
  internalAddresses: Type.Array(Type.String()),
  externalAddresses: Type.Array(Type.String()),
  podCidrs: Type.Array(Type.String()),
  terminatedAt: Type.Optional(Timestamp),
});
export type InstanceRecord = Static<typeof InstanceRecord>;

export const Instance = Type.Intersect([InstanceRecord, Revision]);
export type Instance = Static<typeof Instance>;

export const InstanceSpec = Type.Object(
  {
    name: Name,
    type: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
    zone: Type.String(),
    /** Default: name and region as a DNS name. */
    hostname: Type.Optional(Type.String({ minLength: 1, maxLength: 253 })),
    /** Take the addresses from the client instead of from the cloud's pool. */
    internalAddresses: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 4 })),
    externalAddress: Type.Optional(Type.Boolean()),
    ipv6: Type.Optional(Type.Boolean()),
    podCidr: Type.Optional(Type.Boolean()),
    tags: Type.Optional(Tags),
  },
  { additionalProperties: false },
);
export type InstanceSpec = Static<typeof InstanceSpec>;

export const InstancePatch = Type.Object(
  {
    name: Type.Optional(Name),
    type: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
    hostname: Type.Optional(Type.String({ minLength: 1, maxLength: 253 })),
    internalAddresses: Type.Optional(Type.Array(Type.String(), { maxItems: 4 })),
    externalAddresses: Type.Optional(Type.Array(Type.String(), { maxItems: 4 })),
    tags: Type.Optional(Tags),
  },
  { additionalProperties: false, minProperties: 1 },
);
export type InstancePatch = Static<typeof InstancePatch>;

export const CreateInstances = Type.Object(
  { items: Type.Array(InstanceSpec, { minItems: 1, maxItems: 10_000 }) },
  { additionalProperties: false },
);
export const InstanceIds = Type.Object(
  { ids: Type.Array(ResourceId, { minItems: 1, maxItems: 10_000 }) },
  { additionalProperties: false },
);
export const Instances = Type.Object({ items: Type.Array(Instance) });

export const InstanceListQuery = Type.Object(
  { ...listQuery, zone: Type.Optional(Type.Array(Type.String())), state: Type.Optional(Type.Array(InstanceState)) },
  { additionalProperties: false },
);
export const InstancePage = pageOf(Instance);
export type InstancePage = Static<typeof InstancePage>;

export const LookupInstances = Type.Object(
  {
    ids: Type.Optional(Type.Array(Type.String({ maxLength: 1024 }), { maxItems: 1000 })),
    names: Type.Optional(Type.Array(Type.String({ maxLength: 253 }), { maxItems: 1000 })),
    consistent: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);
export const InstanceLookup = lookupOf(Instance);
export type InstanceLookup = Static<typeof InstanceLookup>;
