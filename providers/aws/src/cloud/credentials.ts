import { defaultProvider } from "@aws-sdk/credential-provider-node";

type Identity = Awaited<ReturnType<ReturnType<typeof defaultProvider>>>;

/** The SDK of AWS asks for new credentials, with each request, when those it has end within five minutes. */
const sdkMarginMs = 5 * 60_000;

/** Interval of reading credentials that do not expire, such as those of a file. */
const rereadMs = 60_000;

/** How soon they are when AWS has refused them: it may be because there are others by now. */
const rereadRefusedMs = 2_000;

/** When credentials without an end were read. */
interface Reading {
  readonly identity: Identity;
  readonly readMs: number;
  readonly refused: boolean;
}

/**
 * The default chain of the SDK of AWS, such that a change takes effect without a restart. What has an end is renewed before it, as ever; what has
 * none, keys in a mounted Secret above all, is read again every minute, and after a refusal.
 */
export class RotatingCredentials {
  readonly #nowMs: () => number;
  readonly #read: () => Promise<Identity>;
  #last: Reading | undefined;

  constructor(nowMs: () => number, read: () => Promise<Identity> = readChain) {
    this.#nowMs = nowMs;
    this.#read = read;
  }

  /** For the clients' configuration. */
  readonly provide = async (): Promise<Identity> => {
    const nowMs = this.#nowMs();
    if (this.#last !== undefined && !isStale(this.#last, nowMs)) return asExpiring(this.#last.identity, nowMs);
    const identity = await this.#read();
    this.#last = identity.expiration === undefined ? { identity, readMs: nowMs, refused: false } : undefined;
    return asExpiring(identity, nowMs);
  };

  /** AWS has just refused a request for its credentials. */
  refused(): void {
    if (this.#last) this.#last = { ...this.#last, refused: true };
  }
}

/** A new chain each time, because a chain caches its result. */
const readChain = (): Promise<Identity> => defaultProvider({ ignoreCache: true })();

function isStale({ readMs, refused }: Reading, nowMs: number): boolean {
  return nowMs - readMs >= (refused ? rereadRefusedMs : rereadMs);
}

/** Credentials without an end get one, so near that the SDK asks for them with each request. */
function asExpiring(identity: Identity, nowMs: number): Identity {
  return identity.expiration === undefined
    ? { ...identity, expiration: new Date(nowMs + sdkMarginMs - 1_000) }
    : identity;
}
