import { Type, type Static } from "typebox";
import { ErrorBody } from "./errors.ts";
import { listQuery, pageOf, ResourceId, resourceFields, Revision, Tags } from "./common.ts";

export const RouteRecord = Type.Object({
  ...resourceFields,
  /** CIDR; one route a destination and account. */
  destination: Type.String(),
  instanceId: Type.String(),
  instanceZone: Type.String(),
  /** The client's own name for it; may be empty. `name` is the destination. */
  label: Type.String(),
});
export type RouteRecord = Static<typeof RouteRecord>;

export const Route = Type.Intersect([
  RouteRecord,
  Revision,
  /** "blackhole": the instance does not exist; packets are dropped. */
  Type.Object({ state: Type.Enum(["active", "blackhole"]) }),
]);
export type Route = Static<typeof Route>;

export const RouteSpec = Type.Object(
  {
    label: Type.Optional(Type.String({ maxLength: 253 })),
    destination: Type.String({ maxLength: 64 }),
    instanceId: ResourceId,
    tags: Type.Optional(Tags),
  },
  { additionalProperties: false },
);
export type RouteSpec = Static<typeof RouteSpec>;

/** How full the account's route table is. */
const RouteQuota = Type.Object({ limit: Type.Integer(), used: Type.Integer() });

export const CreateRoutes = Type.Object(
  { items: Type.Array(RouteSpec, { minItems: 1, maxItems: 1000 }) },
  { additionalProperties: false },
);
export const DeleteRoutes = Type.Object(
  { ids: Type.Array(ResourceId, { minItems: 1, maxItems: 1000 }) },
  { additionalProperties: false },
);

/** One result an item, in the order asked: part of a batch may fail. */
export const RouteResults = Type.Object({
  quota: RouteQuota,
  results: Type.Array(Type.Object({ route: Type.Optional(Route), error: Type.Optional(ErrorBody) })),
});
export type RouteResults = Static<typeof RouteResults>;

export const RouteListQuery = Type.Object(
  { ...listQuery, destination: Type.Optional(Type.Array(Type.String())) },
  { additionalProperties: false },
);
export const RoutePage = Type.Object({ ...pageOf(Route).properties, quota: RouteQuota });
export type RoutePage = Static<typeof RoutePage>;
