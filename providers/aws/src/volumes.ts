import { DescribeVolumesCommand, type Volume as EbsVolume } from "@aws-sdk/client-ec2";
import {
  absent,
  chunksOf,
  ProviderError,
  type ReadContext,
  type VolumeBatchResult,
  type VolumeHandlers,
  type VolumeRef,
} from "@cloudwire/provider-sdk";
import type { AwsCalls } from "./cloud/aws.ts";
import { maxFilterValues, readAll } from "./cloud/pages.ts";

const volumeIdForm = /^vol-(?:[0-9a-f]{8}|[0-9a-f]{17})$/;

export function volumeHandlers(aws: AwsCalls, region: string): VolumeHandlers {
  return {
    features: { maxBatchSize: 1000, csiDrivers: ["ebs.csi.aws.com"], inTreePlugins: ["kubernetes.io/aws-ebs"] },
    getMany: async (volumes, context) => getMany(aws, region, volumes, context),
  };
}

/** The id in a handle; the legacy in-tree plugin wrote `aws://<zone>/vol-…`, too. */
export function volumeIdOf({ source }: Pick<VolumeRef, "source">): string | ProviderError {
  const handle = source.kind === "csi" ? source.volumeHandle : source.volumeId;
  const id = source.kind === "inTree" ? (handle.split("/").at(-1) ?? "") : handle;
  if (volumeIdForm.test(id)) return id;
  return new ProviderError("FIELD_INVALID", `volume handle ${handle} is not of the form vol-<8 or 17 hex digits>`);
}

/** One request for 200 volumes. */
async function getMany(
  aws: AwsCalls,
  region: string,
  volumes: readonly VolumeRef[],
  context: ReadContext,
): Promise<readonly VolumeBatchResult[]> {
  const ids = volumes.map(volumeIdOf);
  const wanted = new Set(ids.filter((id) => typeof id === "string"));
  const observeTime = new Date();
  const read = await Promise.all(
    chunksOf([...wanted], maxFilterValues).map((chunk) =>
      readAll(async (token) => {
        const filters = [{ Name: "volume-id", Values: [...chunk] }];
        const { Volumes = [], NextToken } = await aws.ec2(context, (client, options) =>
          client.send(new DescribeVolumesCommand({ Filters: filters, NextToken: token }), options),
        );
        return { items: Volumes, next: NextToken };
      }),
    ),
  );
  const found = new Map(read.flat().map((volume) => [volume.VolumeId, volume]));
  return ids.map((id) => (typeof id === "string" ? answerOf(id, found.get(id), region, observeTime) : id));
}

function answerOf(id: string, volume: EbsVolume | undefined, region: string, observeTime: Date): VolumeBatchResult {
  if (volume === undefined) return absent("LOOKUP_MISS", { observeTime });
  if (volume.State === "deleted") return absent("TERMINATED", { observeTime, stronglyConsistent: true });
  const zone = volume.AvailabilityZone;
  if (zone === undefined) return new ProviderError("INCOMPLETE_ANSWER", `EC2 returned no zone for ${id}`);
  return { id, zones: [zone], region, readTime: observeTime };
}
