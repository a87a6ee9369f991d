import { RPCS } from "../convert/methods.ts";
import { durationToProto } from "../convert/scalars.ts";
import { volumeAnswer, volumeRefBytes, volumeRefToProto } from "../convert/volume.ts";
import type { ProviderReads } from "../model/client.ts";
import type { VolumeResult } from "../model/volume.ts";
import { type Lookup, lookUp } from "./batches.ts";
import type { Session } from "./session.ts";

export function volumeCalls(session: Session): Pick<ProviderReads, "getVolumes"> {
  return {
    getVolumes: (volumes, options) => {
      const maxDataAge = durationToProto(options.maxDataAgeMs);
      // Without a check of the order: a volume's ID may differ from the requested one.
      const lookup: Lookup<ReturnType<typeof volumeRefToProto>, Parameters<typeof volumeAnswer>[0], VolumeResult> = {
        session,
        group: "volumes",
        message: "cloudprovider.v1.VolumeRef",
        sizeBytes: volumeRefBytes,
        call: (batch) =>
          session.call(RPCS.batchGetVolumes, (context) => ({ context, volumes: [...batch], maxDataAge }), options),
        convert: (result, { name }, context) => volumeAnswer(result, `${session.provider}: volume ${name}`, context),
      };
      const refs = volumes.map((volume) => volumeRefToProto(volume));
      return lookUp(lookup, refs, options.signal);
    },
  };
}
