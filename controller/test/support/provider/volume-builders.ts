import type { PersistentVolume, VolumeSource } from "../../../src/api/persistent-volume.ts";
import type { ReadOptions } from "../../../src/provider/model/client.ts";
import type { ProviderInfo, VolumeCapabilities } from "../../../src/provider/model/info.ts";
import type { Provider } from "../../../src/provider/model/provider.ts";
import type { Volume, VolumeResult, VolumeRef } from "../../../src/provider/model/volume.ts";
import { objectMeta } from "../builders.ts";
import { idleProvider, info } from "./provider-builders.ts";

export const DRIVER = "csi.acme.example.com";
export const PLUGIN = "kubernetes.io/cinder";
export const ZONE = "topology.kubernetes.io/zone";
export const REGION = "topology.kubernetes.io/region";

/** Handshake of a provider that serves the volumes of one driver and one plugin. */
export function volumesInfo(parts: Partial<VolumeCapabilities> = {}): ProviderInfo {
  const volumes = { maxBatchSize: 1000, csiDrivers: [DRIVER], inTreePlugins: [PLUGIN], ...parts };
  return info({ capabilities: { instances: undefined, loadBalancers: undefined, volumes } });
}

/** A volume in one zone. */
export function volume(parts: Partial<Volume> = {}): Volume {
  return { id: "vol-1", zones: ["a"], region: "r", labels: {}, nodeAffinity: [], ...parts };
}

export function present(parts: Partial<Volume> = {}): VolumeResult {
  return { kind: "present", volume: volume(parts), readTimeMs: 0 };
}

export const ABSENT: VolumeResult = {
  kind: "absent",
  basis: "lookupMiss",
  observeTimeMs: 0,
  strong: true,
  witness: { provider: "acme", scopeId: "project-1", bootId: "boot-1", receivedAtMs: 0 },
};

export function csi(volumeHandle = "vol-1", driver = DRIVER): VolumeSource {
  return { kind: "csi", driver, volumeHandle };
}

export function persistentVolume(name: string, parts: { readonly source?: VolumeSource } = {}): PersistentVolume {
  return { metadata: objectMeta({ name }), spec: { source: csi(), nodeAffinity: undefined, ...parts } };
}

/** A PersistentVolume of the driver as the API server sends it. */
export function persistentVolumeJson(name: string, spec: object = {}, metadata: object = {}) {
  const csiSource = { driver: DRIVER, volumeHandle: "vol-1" };
  return {
    kind: "PersistentVolume",
    metadata: { name, uid: `uid-${name}`, ...metadata },
    spec: { csi: csiSource, ...spec },
  };
}

export interface VolumeCall {
  readonly volumes: readonly VolumeRef[];
  readonly options: ReadOptions;
}

/** A provider that answers about volumes, and remembers what it was asked. */
export class VolumeCloud {
  readonly calls: VolumeCall[] = [];
  /** What it says of a volume. */
  answer: (volume: VolumeRef) => VolumeResult = () => present();
  /** Answers wait for it. */
  beforeCall: () => Promise<void> = () => Promise.resolve();
  info: ProviderInfo | undefined = volumesInfo();

  provider(name = "acme"): Provider {
    const getVolumes = async (volumes: readonly VolumeRef[], options: ReadOptions) => {
      this.calls.push({ volumes, options });
      await this.beforeCall();
      return volumes.map((one) => this.answer(one));
    };
    const declared = (): ProviderInfo | undefined => this.info;
    const idle = idleProvider(name, this.info);
    return {
      ...idle,
      client: { ...idle.client, getVolumes },
      get info() {
        return declared();
      },
    };
  }
}
