import { Type, type Static } from "typebox";
import { listQuery, lookupOf, Name, pageOf, resourceFields, Revision, Tags } from "./common.ts";

export const VolumeRecord = Type.Object({
  ...resourceFields,
  zone: Type.String(),
  region: Type.String(),
  sizeGiB: Type.Integer(),
  state: Type.Enum(["available"]),
});
export type VolumeRecord = Static<typeof VolumeRecord>;

export const Volume = Type.Intersect([VolumeRecord, Revision]);
export type Volume = Static<typeof Volume>;

export const VolumeSpec = Type.Object(
  {
    name: Name,
    zone: Type.String(),
    sizeGiB: Type.Integer({ minimum: 1, maximum: 65_536 }),
    tags: Type.Optional(Tags),
  },
  { additionalProperties: false },
);
export type VolumeSpec = Static<typeof VolumeSpec>;

export const VolumeListQuery = Type.Object(
  { ...listQuery, zone: Type.Optional(Type.Array(Type.String())) },
  { additionalProperties: false },
);
export const VolumePage = pageOf(Volume);
export type VolumePage = Static<typeof VolumePage>;

export const LookupVolumes = Type.Object(
  {
    ids: Type.Array(Type.String({ maxLength: 1024 }), { maxItems: 1000 }),
    consistent: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);
export const VolumeLookup = lookupOf(Volume);
export type VolumeLookup = Static<typeof VolumeLookup>;
