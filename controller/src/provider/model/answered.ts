import { contractError, type ProviderError } from "./errors.ts";
import type { Answered, NodeOwner, Provider } from "./provider.ts";

/** Those that have answered the handshake. */
export function answered(providers: readonly Provider[]): readonly Answered[] {
  return providers.flatMap((provider) => {
    const { info } = provider;
    return info === undefined ? [] : [{ provider, info }];
  });
}

/** The first that has not. */
export function firstSilent(providers: readonly Provider[]): Provider | undefined {
  return providers.find(({ info }) => info === undefined);
}

export function namesOf(all: readonly Answered[]): readonly string[] {
  return all.map(({ provider }) => provider.name);
}

/** Why a provider has not answered. */
export function silentError({ name, unavailable }: Provider): ProviderError {
  return unavailable ?? contractError("PROVIDER_STARTING", `provider ${name} has not answered yet`);
}

/** That something is nobody's is final only once every provider has said what it owns. */
export function nobody(why: string, providers: readonly Provider[]): NodeOwner {
  const silent = firstSilent(providers);
  return silent === undefined ? { kind: "unowned", why } : { kind: "undecided", error: silentError(silent) };
}
