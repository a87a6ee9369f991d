import type { VolumeSource } from "../../api/persistent-volume.ts";
import type { ProviderError } from "./errors.ts";
import type { Absence } from "./instance.ts";

/** The data by which a provider finds the volume of a PersistentVolume. */
export interface VolumeRef {
  readonly name: string;
  readonly uid: string;
  readonly source: VolumeSource;
}

export interface Volume {
  readonly id: string;
  /** Zones with access, sorted. */
  readonly zones: readonly string[];
  readonly region: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** Further requirements: any term must match, with all its requirements. */
  readonly nodeAffinity: readonly TopologyTerm[];
}

export type TopologyTerm = readonly TopologyRequirement[];

export interface TopologyRequirement {
  readonly key: string;
  readonly values: readonly string[];
}

export type VolumeResult =
  | { readonly kind: "present"; readonly volume: Volume; readonly readTimeMs: number }
  | ({ readonly kind: "absent" } & Absence)
  | { readonly kind: "unknown"; readonly error: ProviderError }
  | { readonly kind: "notOwned"; readonly message: string };
