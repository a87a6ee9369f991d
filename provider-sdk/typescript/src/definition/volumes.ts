import type { ProviderError } from "../results/errors.ts";
import type { ReadContext } from "./call-context.ts";
import type { Absent, NotOwned } from "../results/results.ts";

/** Source of the volume of a PersistentVolume. */
export type VolumeSource =
  | { readonly kind: "csi"; readonly driver: string; readonly volumeHandle: string }
  | { readonly kind: "inTree"; readonly plugin: string; readonly volumeId: string };

/** A PersistentVolume whose volume is looked up. */
export interface VolumeRef {
  /** metadata.name of the PersistentVolume. */
  readonly name: string;
  /** metadata.uid of the PersistentVolume. */
  readonly uid?: string | undefined;
  /** Source of its volume. */
  readonly source: VolumeSource;
}

/** `key in values`. */
export interface TopologyRequirement {
  /** Key of a Node label. */
  readonly key: string;
  /** Values of it; any one matches. */
  readonly values: readonly string[];
}

/** One volume. */
export interface Volume {
  readonly kind?: "volume" | undefined;
  /** The cloud's id of the volume. */
  readonly id: string;
  /** Zones from which it is accessible. */
  readonly zones?: readonly string[] | undefined;
  /** Region it is in. */
  readonly region?: string | undefined;
  /** Additional labels for the PersistentVolume. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Node affinity in addition to zones and region: any one term, with all its requirements. */
  readonly nodeAffinity?: readonly (readonly TopologyRequirement[])[] | undefined;
  /** When the cloud was read for this volume, for a cached result. Default: when the call began. */
  readonly readTime?: Date | undefined;
}

/** The result for one volume. */
export type VolumeResult = Volume | Absent | NotOwned;

/** The result for one volume of a batch: an error is that of this volume alone. */
export type VolumeBatchResult = VolumeResult | ProviderError | Error;

/** Capabilities for volumes. */
export interface VolumeFeatures {
  /** Maximum number of volumes of one call, 1 to 1000. Default: 200. */
  readonly maxBatchSize?: number | undefined;
  /** CSI driver names whose volumes are in this cloud. The SDK returns not-owned for others. */
  readonly csiDrivers?: readonly string[] | undefined;
  /** In-tree plugin names whose volumes are in this cloud: `kubernetes.io/aws-ebs`. */
  readonly inTreePlugins?: readonly string[] | undefined;
}

/** Handlers for volumes: `get` for one volume, or `getMany` for a batch, with results in the order of the request. */
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
