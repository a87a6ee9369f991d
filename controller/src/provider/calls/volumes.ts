import { lookUp } from "./batches.ts";
import type { ProviderReads, ReadOptions } from "../model/client.ts";
import { durationToProto } from "../convert/scalars.ts";
import { volumeAnswer, volumeRefBytes, volumeRefToProto } from "../convert/volume.ts";
import { asProviderError } from "../model/errors.ts";
import { RPCS } from "../convert/methods.ts";
import type { Session } from "./session.ts";
import type { VolumeResult, VolumeRef } from "../model/volume.ts";

type WireRef = ReturnType<typeof volumeRefToProto>;

export function volumeCalls(session: Session): Pick<ProviderReads, "getVolumes"> {
  return { getVolumes: (volumes, options) => getVolumes(session, volumes, options) };
}

/** BatchGetVolumes, in as many calls as the provider's and the contract's limits need. */
async function getVolumes(
  session: Session,
  volumes: readonly VolumeRef[],
  options: ReadOptions,
): Promise<readonly VolumeResult[]> {
  if (volumes.length === 0) return [];
  try {
    const { maxBatchSize } = await session.capability("volumes", options.signal);
    return await lookUp<WireRef, Parameters<typeof volumeAnswer>[0], VolumeResult>(
      {
        session,
        quotaClass: "volumes",
        message: "cloudprovider.v1.VolumeRef",
        maxBatchSize,
        sizeBytes: volumeRefBytes,
        call: (batch) => {
          const maxDataAge = durationToProto(options.maxDataAgeMs);
          return session.call(
            RPCS.batchGetVolumes,
            (context) => ({ context, volumes: [...batch], maxDataAge }),
            options,
          );
        },
        answer: (result, { name }, context) =>
          trusted(session, volumeAnswer(result, `${session.provider}: volume ${name}`, context)),
        // A volume's id need not be the one asked by: nothing in the answer tells whose it is.
        misaligned: () => undefined,
      },
      volumes.map((volume) => volumeRefToProto(volume)),
    );
  } catch (error) {
    const failure = asProviderError(error);
    return volumes.map(() => ({ kind: "unknown", error: failure }));
  }
}

function trusted(session: Session, answer: VolumeResult): VolumeResult {
  const problem = answer.kind === "absent" ? session.absenceProblem(answer) : undefined;
  return problem === undefined ? answer : { kind: "unknown", error: problem };
}
