import type { VolumeSource } from "../../api/persistent-volume.ts";
import type { ProviderError } from "./errors.ts";
import type { Absence } from "./instance.ts";

/** What a provider gets to find the volume behind a PersistentVolume. */
export interface VolumeRef {
  readonly name: string;
  readonly uid: string;
  readonly source: VolumeSource;
}

/** A volume as its cloud has it. */
export interface Volume {
  readonly id: string;
  /** Zones it can be reached from, sorted. */
  readonly zones: readonly string[];
  readonly region: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** Requirements beyond zones and region: any one term must hold, all requirements of a term together. */
  readonly nodeAffinity: readonly TopologyTerm[];
}

export type TopologyTerm = readonly TopologyRequirement[];

export interface TopologyRequirement {
  readonly key: string;
  readonly values: readonly string[];
}

/** What is known about the volume of one PersistentVolume. */
export type VolumeResult =
  | { readonly kind: "present"; readonly volume: Volume; readonly readTimeMs: number }
  | ({ readonly kind: "absent" } & Absence)
  | { readonly kind: "unknown"; readonly error: ProviderError }
  | { readonly kind: "notOwned"; readonly message: string };
