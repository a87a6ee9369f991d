import type { VolumeSource } from "../../api/persistent-volume.ts";
import { contractError, type ProviderError } from "../../provider/errors.ts";
import type { ProviderInfo } from "../../provider/provider-info.ts";
import type { Provider } from "../../provider/provider-set.ts";

/** Whose a volume is. */
export type VolumeOwner =
  | { readonly kind: "owned"; readonly provider: Provider }
  /** Of a driver or plugin that no provider serves. */
  | { readonly kind: "unowned" }
  /** Cannot be said before a provider has answered. */
  | { readonly kind: "undecided"; readonly error: ProviderError };

/** The provider whose handshake names the volume's driver or plugin. One that is away is known by its last handshake. */
export function ownerOfVolume(source: VolumeSource, providers: readonly Provider[]): VolumeOwner {
  const provider = providers.find(({ info }) => info !== undefined && serves(info, source));
  if (provider !== undefined) return { kind: "owned", provider };
  const silent = providers.find(({ info }) => info === undefined);
  if (silent === undefined && providers.length > 0) return { kind: "unowned" };
  const name = silent === undefined ? "of this cluster" : silent.name;
  const error = silent?.unavailable ?? contractError("PROVIDER_STARTING", `provider ${name} has not answered yet`);
  return { kind: "undecided", error };
}

function serves({ capabilities: { volumes } }: ProviderInfo, source: VolumeSource): boolean {
  if (volumes === undefined) return false;
  return source.kind === "csi"
    ? volumes.csiDrivers.includes(source.driver)
    : volumes.inTreePlugins.includes(source.plugin);
}
