import { createHash } from "node:crypto";
import type { KubeClient } from "../../kube/client.ts";
import { TOKEN_REVIEWS, type TokenReview } from "../../kube/resources/reviews.ts";
import type { Clock } from "../../util/clock.ts";
import { ExpiringCache } from "./expiring-cache.ts";
import type { User } from "./user.ts";

export interface TokenAuthenticatorDependencies {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** Ends calls under way. */
  readonly signal: AbortSignal;
  /** How long an answer is good, whatever it is (--authentication-token-webhook-cache-ttl). */
  readonly cacheMs: number;
}

export type TokenAnswer =
  | { readonly kind: "user"; readonly user: User }
  /** The API server does not know the token, or could not tell. */
  | { readonly kind: "refused"; readonly why: string };

/** client-go's limit for a TokenReview (apiserver/pkg/server/options/authentication.go v0.36.3). */
const TIMEOUT_MS = 10_000;

const CAPACITY = 4096;

/** Asks the API server whose a bearer token is. */
export class TokenAuthenticator {
  readonly #deps: TokenAuthenticatorDependencies;
  readonly #answers: ExpiringCache<TokenReview>;

  constructor(dependencies: TokenAuthenticatorDependencies) {
    this.#deps = dependencies;
    this.#answers = new ExpiringCache(CAPACITY, () => dependencies.cacheMs, dependencies.clock);
  }

  /** Rejects when the API server cannot be asked. */
  async authenticate(token: string): Promise<TokenAnswer> {
    // Only a digest is kept: a heap dump must not hold tokens of users.
    const key = createHash("sha256").update(token).digest("base64");
    const review = await this.#answers.get(key, () => this.#review(token));
    if (review.authenticated) return { kind: "user", user: { ...review.user, name: review.user.username } };
    return { kind: "refused", why: review.error === "" ? "the API server does not know this token" : review.error };
  }

  #review(token: string): Promise<TokenReview> {
    const { client, signal } = this.#deps;
    return client.create(TOKEN_REVIEWS, undefined, { spec: { token } }, { signal, timeoutMs: TIMEOUT_MS });
  }
}
