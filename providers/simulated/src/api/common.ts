import { Type, type Static } from "typebox";

/** Labels a client puts on a resource; the cloud never reads them but in filters. */
export const Tags = Type.Record(
  Type.String({ pattern: "^[A-Za-z0-9._/:@+=-]{1,128}$" }),
  Type.String({ maxLength: 256 }),
  {
    maxProperties: 50,
  },
);
export type Tags = Static<typeof Tags>;

/** Opaque client data kept with a resource: fingerprints, specifications; not usable in filters. */
export const Metadata = Type.Record(Type.String({ minLength: 1, maxLength: 128 }), Type.String({ maxLength: 16_384 }), {
  maxProperties: 64,
});

export const Name = Type.String({ minLength: 1, maxLength: 253, pattern: "^\\S(.*\\S)?$" });
export const ResourceId = Type.String({ minLength: 1, maxLength: 128, pattern: "^[A-Za-z0-9-]+$" });

/** RFC 3339 in UTC. */
export const Timestamp = Type.String();

/**
 * How fresh an answer is. "strong": read from the primary; only such an answer proves that something does not exist.
 * "eventual": read from a replica that may lag.
 */
export const Consistency = Type.Enum(["strong", "eventual"]);
export type Consistency = Static<typeof Consistency>;

/** What an answer leaves out because it could not be reached. Nothing may be concluded about resources in these zones. */
export const Unreachable = Type.Object({ zones: Type.Array(Type.String()) });
export type Unreachable = Static<typeof Unreachable>;

const readFields = {
  /** The account whose resources were read, because a key can be moved to another account. */
  account: Type.String(),
  consistency: Consistency,
  /** When the data was read. */
  observedAt: Timestamp,
  /** Position in the change feed that this answer shows: events after it are the changes since. */
  snapshot: Type.String(),
  unreachable: Unreachable,
};

/** One page of a list. Pages of one list show one snapshot. */
export const pageOf = <const Item extends Type.TSchema>(item: Item) =>
  Type.Object({
    items: Type.Array(item),
    /** Absent on the last page. */
    nextPageToken: Type.Optional(Type.String()),
    /** True on the last page only, and only if nothing was left out before it. */
    complete: Type.Optional(Type.Boolean()),
    ...readFields,
  });

/** Answer to a look-up of many: every id and name asked for is either among the items, or missing, or not decided. */
export const lookupOf = <const Item extends Type.TSchema>(item: Item) =>
  Type.Object({
    items: Type.Array(item),
    /** Ids and names that the answering store is sure not to have. Absent when it decides nothing. */
    missing: Type.Optional(Type.Object({ ids: Type.Array(Type.String()), names: Type.Array(Type.String()) })),
    ...readFields,
  });

/** Query of every list. Repeat a parameter to give several values. */
export const listQuery = {
  pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  pageToken: Type.Optional(Type.String({ maxLength: 2048 })),
  /** Read from the primary. */
  consistent: Type.Optional(Type.Boolean()),
  id: Type.Optional(Type.Array(Type.String(), { maxItems: 1000 })),
  name: Type.Optional(Type.Array(Type.String(), { maxItems: 1000 })),
  /** `key=value`; all must match. */
  tag: Type.Optional(Type.Array(Type.String({ pattern: "^[^=]+=" }), { maxItems: 20 })),
};

export const readQuery = { consistent: Type.Optional(Type.Boolean()) };

/** What every stored resource has. */
export const resourceFields = {
  id: ResourceId,
  name: Name,
  tags: Tags,
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

/** Added when a resource leaves the store: grows with every change of any resource. */
export const Revision = Type.Object({ revision: Type.Integer() });
