import type { VolumeSource } from "../../api/persistent-volume.ts";
import { contractError, type ProviderError } from "../model/errors.ts";
import type { ProviderInfo } from "../model/info.ts";
import type { Provider } from "../model/provider.ts";
import type { VolumeAnswer } from "../model/volume.ts";

/** What is known of a volume. */
export type VolumeKnowledge =
  | VolumeAnswer
  /** Whose it is cannot be said before a provider has answered. */
  | { readonly kind: "undecided"; readonly error: ProviderError };

/** The providers whose handshake names the volume's driver or plugin. One that is away is known by its last handshake. */
export function claimantsOf(source: VolumeSource, providers: readonly Provider[]): readonly Provider[] {
  return providers.filter(({ info }) => info !== undefined && serves(info, source));
}

function serves({ capabilities: { volumes } }: ProviderInfo, source: VolumeSource): boolean {
  if (volumes === undefined) return false;
  return source.kind === "csi"
    ? volumes.csiDrivers.includes(source.driver)
    : volumes.inTreePlugins.includes(source.plugin);
}

/**
 * The word of all providers that claim the volume's driver; two accounts of one cloud do. Who has the volume is right; that nobody has it
 * takes a no of each, those included that have never answered and might claim it.
 */
export function consensusOf(answers: readonly VolumeAnswer[], providers: readonly Provider[]): VolumeKnowledge {
  const known =
    answers.find(({ kind }) => kind === "present") ??
    answers.find(({ kind }) => kind === "unknown") ??
    answers.find(({ kind }) => kind === "absent");
  if (known !== undefined && known.kind !== "absent") return known;
  const silent = providers.find(({ info }) => info === undefined);
  if (silent !== undefined || providers.length === 0) return { kind: "undecided", error: silence(silent) };
  return known ?? { kind: "notMine", message: "no provider serves its driver" };
}

function silence(provider: Provider | undefined): ProviderError {
  if (provider === undefined) return contractError("PROVIDER_STARTING", "no provider has answered yet");
  return provider.unavailable ?? contractError("PROVIDER_STARTING", `provider ${provider.name} has not answered yet`);
}
