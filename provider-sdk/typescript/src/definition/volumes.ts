import type { ProviderError } from "../results/errors.ts";
import type { ReadContext } from "./call-context.ts";
import type { Absent, NotOwned } from "../results/results.ts";

/** Where a PersistentVolume's volume is. */
export type VolumeSource =
  | { readonly kind: "csi"; readonly driver: string; readonly volumeHandle: string }
  | { readonly kind: "inTree"; readonly plugin: string; readonly volumeId: string };

/** A PersistentVolume whose volume is asked for. */
export interface VolumeRef {
  /** metadata.name of the PersistentVolume. */
  readonly name: string;
  /** metadata.uid of the PersistentVolume. */
  readonly uid?: string | undefined;
  /** Where its volume is. */
  readonly source: VolumeSource;
}

/** `key in values`. */
export interface TopologyRequirement {
  /** Key of a Node label. */
  readonly key: string;
  /** Values of it, any of which will do. */
  readonly values: readonly string[];
}

/** One volume. */
export interface Volume {
  readonly kind?: "volume" | undefined;
  /** The cloud's id of the volume. */
  readonly id: string;
  /** Zones it can be reached from. */
  readonly zones?: readonly string[] | undefined;
  /** Region it is in. */
  readonly region?: string | undefined;
  /** More labels for the PersistentVolume. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Node affinity beyond zones and region: any one term, all its requirements. */
  readonly nodeAffinity?: readonly (readonly TopologyRequirement[])[] | undefined;
  /** When the cloud was read for this volume, if the answer comes from a cache. Default: when the call began. */
  readonly readTime?: Date | undefined;
}

/** The answer about one volume. */
export type VolumeResult = Volume | Absent | NotOwned;

/** The answer about one volume of many: an error is that of this volume alone. */
export type VolumeBatchResult = VolumeResult | ProviderError | Error;

/** Facts about how a provider serves volumes. */
export interface VolumeFeatures {
  /** Most volumes of one call, 1 to 1000. Default: 200. */
  readonly maxBatchSize?: number | undefined;
  /** CSI driver names whose volumes live in this cloud; volumes of others are answered with not-owned by the SDK. */
  readonly csiDrivers?: readonly string[] | undefined;
  /** In-tree plugin names whose volumes live in this cloud: `kubernetes.io/aws-ebs`. */
  readonly inTreePlugins?: readonly string[] | undefined;
}

/** How a provider serves volumes: `get` one by one, or `getMany` in the order asked for. */
export type VolumeHandlers = { readonly features?: VolumeFeatures | undefined } & (
  | {
      readonly get: (volume: VolumeRef, context: ReadContext) => Promise<VolumeResult> | VolumeResult;
      readonly getMany?: undefined;
    }
  | {
      readonly get?: undefined;
      readonly getMany: (
        volumes: readonly VolumeRef[],
        context: ReadContext,
      ) => Promise<readonly VolumeBatchResult[]> | readonly VolumeBatchResult[];
    }
);
