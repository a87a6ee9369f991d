import type { VolumeRecord, VolumeSpec } from "../../api/volumes.ts";
import { CloudError } from "../errors.ts";
import { regionOfZone } from "../geography.ts";
import { newId } from "../store/meta.ts";
import type { Versioned } from "../store/resource-store.ts";
import { volumeKind } from "./kinds.ts";
import { checkQuota } from "./quota.ts";
import { timestamp, type World } from "./world.ts";

export const createVolume = (world: World, account: string, spec: VolumeSpec): Versioned<VolumeRecord> =>
  world.database.transaction(() => {
    checkQuota(world, account, "volumes", 1);
    const now = timestamp(world.clock.now());
    const record: VolumeRecord = {
      id: newId(world.database, "vol"),
      name: spec.name,
      tags: spec.tags ?? {},
      createdAt: now,
      updatedAt: now,
      zone: spec.zone,
      region: regionOfZone(world.geography, spec.zone),
      sizeGiB: spec.sizeGiB,
      state: "available",
    };
    return world.store.put(volumeKind, account, record);
  });

export const getVolume = (world: World, account: string, id: string, snapshot?: number): Versioned<VolumeRecord> => {
  const volume = world.store.get(volumeKind, account, id, snapshot);
  if (!volume) throw new CloudError("VolumeNotFound", `no volume ${id} in account ${account}`);
  return volume;
};

export const deleteVolume = (world: World, account: string, id: string): void => {
  world.store.delete(volumeKind, account, getVolume(world, account, id));
};
