import { absent, ProviderError, type VolumeResult, type VolumeHandlers, type VolumeRef } from "@cloudwire/provider-sdk";
import { Type } from "typebox";
import { isStatus } from "./cloud/errors.ts";
import type { CallScope } from "./cloud/keystone.ts";
import type { OpenStack } from "./cloud/openstack.ts";

const volumeIdForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const answerSchema = Type.Object({
  volume: Type.Object({
    id: Type.String(),
    status: Type.String(),
    availability_zone: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
});

/** Volumes of Cinder. They are asked for one by one: Cinder has no filter for several ids. */
export function volumeHandlers(openStack: OpenStack): VolumeHandlers {
  return {
    features: { csiDrivers: ["cinder.csi.openstack.org"], inTreePlugins: ["kubernetes.io/cinder"] },
    get: async (volume, context) => getVolume(openStack, volumeIdOf(volume), context),
  };
}

/** The id in a handle. @throws ProviderError for any other handle */
export function volumeIdOf({ source }: Pick<VolumeRef, "source">): string {
  const handle = source.kind === "csi" ? source.volumeHandle : source.volumeId;
  if (volumeIdForm.test(handle)) return handle.toLowerCase();
  throw new ProviderError("FIELD_INVALID", `volume handle ${handle} is not a Cinder volume ID (UUID)`);
}

async function getVolume(openStack: OpenStack, id: string, callScope: CallScope): Promise<VolumeResult> {
  try {
    const { volume } = await openStack.get(callScope, "block-storage", `/volumes/${id}`, answerSchema);
    const { availability_zone: zone } = volume;
    return { id, region: openStack.region, zones: zone === undefined || zone === null || zone === "" ? [] : [zone] };
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
    return absent("LOOKUP_MISS");
  }
}
