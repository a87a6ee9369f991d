import { Type, type Static } from "typebox";

export const resourceKinds = ["instance", "loadBalancer", "operation", "route", "volume"] as const;
export const ResourceKind = Type.Enum(resourceKinds);
export type ResourceKind = Static<typeof ResourceKind>;

/** One change of one resource. `resource` is the resource after it; for "deleted", as it was last. */
export const Event = Type.Object({
  token: Type.String(),
  time: Type.String(),
  kind: ResourceKind,
  id: Type.String(),
  type: Type.Enum(["created", "updated", "deleted"]),
  resource: Type.Unknown(),
});
export type Event = Static<typeof Event>;

export const EventQuery = Type.Object(
  {
    /** Where to continue: `resumeToken` of the last response, or `snapshot` of a list. Default: now. */
    after: Type.Optional(Type.String({ pattern: "^\\d{1,15}$" })),
    kind: Type.Optional(Type.Array(ResourceKind)),
    /** How long to wait for something to happen. */
    waitMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 60_000 })),
  },
  { additionalProperties: false },
);

export const Events = Type.Object({ account: Type.String(), events: Type.Array(Event), resumeToken: Type.String() });
export type Events = Static<typeof Events>;

export const Account = Type.Object({
  id: Type.String(),
  cloud: Type.String(),
  apiVersion: Type.String(),
  regions: Type.Array(Type.Object({ name: Type.String(), zones: Type.Array(Type.String()) })),
  /** Capabilities of the load balancers of this cloud. */
  loadBalancers: Type.Object({ classes: Type.Array(Type.String()), listenPortOffset: Type.Integer() }),
});
export type Account = Static<typeof Account>;
