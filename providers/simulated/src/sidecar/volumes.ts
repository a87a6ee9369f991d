import {
  absent,
  ProviderError,
  type ReadContext,
  type VolumeBatchResult,
  type VolumeHandlers,
  type VolumeRef,
} from "@cloudwire/provider-sdk";
import type { VolumeLookup } from "../api/volumes.ts";
import type { CloudAccess } from "./cloud-access.ts";
import { checkAccounted, freshnessProblem, missProblem } from "./evidence.ts";

/** Name of the cloud's CSI driver; volume handles are the cloud's volume ids. */
const csiDriver = "csi.simulated.cloudwire.dev";

/** Maximum number of items in one look-up. */
const maxBatchSize = 1000;

/** `inTreePlugins`: names of legacy in-tree plugins whose volume ids are taken for the cloud's own. */
export function volumeHandlers(cloud: CloudAccess, inTreePlugins: readonly string[] = []): VolumeHandlers {
  return {
    features: { maxBatchSize, csiDrivers: [csiDriver], inTreePlugins },
    getMany: async (volumes, context) => getMany(cloud, volumes, context),
  };
}

/** One call of the cloud for all volumes. */
async function getMany(
  cloud: CloudAccess,
  volumes: readonly VolumeRef[],
  context: ReadContext,
): Promise<readonly VolumeBatchResult[]> {
  const handles = volumes.map(({ source }) => (source.kind === "csi" ? source.volumeHandle : source.volumeId));
  const ids = [...new Set(handles.filter((handle) => !malformed(handle)))];
  if (ids.length === 0) return handles.map(malformed).filter((problem) => problem !== undefined);
  const lookup = await cloud.ask(context, async (client, signal) => client.lookupVolumes(ids, true, signal));
  cloud.requireOwn(lookup);
  const stale = freshnessProblem(lookup, context.maxDataAgeMs);
  return handles.map((handle) => malformed(handle) ?? answerFor(lookup, handle, stale));
}

function malformed(handle: string): ProviderError | undefined {
  if (/^vol-[0-9a-f]{12}$/.test(handle)) return undefined;
  return new ProviderError("FIELD_INVALID", `volume handle ${handle} is not of the form vol-<12 hex digits>`);
}

function answerFor(lookup: VolumeLookup, id: string, stale: ProviderError | undefined): VolumeBatchResult {
  const readTime = new Date(lookup.observedAt);
  const volume = lookup.items.find((candidate) => candidate.id === id);
  if (volume) return stale ?? { id, zones: [volume.zone], region: volume.region, readTime };
  const problem = missProblem(lookup) ?? checkAccounted(lookup.missing?.ids ?? [], id);
  return problem ?? absent("LOOKUP_MISS", { observeTime: readTime, stronglyConsistent: true });
}
