import { defaultProvider } from "@aws-sdk/credential-provider-node";

type Identity = Awaited<ReturnType<ReturnType<typeof defaultProvider>>>;

/** The SDK of AWS asks for new credentials when those it has end within five minutes. */
const sdkMarginMs = 5 * 60_000;

/** How soon credentials without an end, such as those of a file, are looked up again. */
const rereadMs = 60_000;

/**
 * The default chain of the SDK of AWS, such that a change takes effect without a restart. What has an end is renewed before it, as ever; what has
 * none, keys in a mounted Secret above all, is read again every minute.
 */
export function rotatingCredentials(nowMs: () => number): () => Promise<Identity> {
  return async () => asExpiring(await defaultProvider({ ignoreCache: true })(), nowMs());
}

/** Credentials without an end get one, so that the SDK asks for them again. */
export function asExpiring(identity: Identity, nowMs: number): Identity {
  return identity.expiration === undefined
    ? { ...identity, expiration: new Date(nowMs + sdkMarginMs + rereadMs) }
    : identity;
}
