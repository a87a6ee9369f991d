import { createHash } from "node:crypto";
import type { KubeClient } from "../../kube/client.ts";
import {
  SUBJECT_ACCESS_REVIEWS,
  type SubjectAccessReview,
  TOKEN_REVIEWS,
  type TokenReview,
} from "../../kube/resources/reviews.ts";
import type { Clock } from "../../util/clock.ts";
import { Lru } from "../../util/lru.ts";

/** A user as Kubernetes describes it. */
export interface User {
  readonly name: string;
  /** "" when unknown. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** `refused`: the credentials are invalid. */
export type Identity =
  | { readonly kind: "user"; readonly user: User }
  | { readonly kind: "refused"; readonly message: string };

const UNAUTHENTICATED_GROUP = "system:unauthenticated";
const AUTHENTICATED_GROUP = "system:authenticated";

/** Cluster administrators: may do everything. */
const MASTERS_GROUP = "system:masters";

/** A request without credentials. */
export const ANONYMOUS: User = {
  name: "system:anonymous",
  uid: "",
  groups: [UNAUTHENTICATED_GROUP],
  extra: {},
};

/** Adds the group of authenticated users, as the API server does; not to an anonymous user that a proxy passes on. */
export function authenticated(user: User): User {
  const { name, groups } = user;
  const isAnonymous = name === ANONYMOUS.name || groups.includes(UNAUTHENTICATED_GROUP);
  if (isAnonymous || groups.includes(AUTHENTICATED_GROUP)) return user;
  return { ...user, groups: [...groups, AUTHENTICATED_GROUP] };
}

/** A request as RBAC's nonResourceURLs describe it. */
export interface Attributes {
  readonly user: User;
  /** get, post, put, patch, delete, … */
  readonly verb: string;
  /** Without query. */
  readonly path: string;
}

interface ReviewDependencies {
  readonly clock: Clock;
  /** Ends pending calls. */
  readonly signal: AbortSignal;
}

export interface AuthorizerDependencies extends ReviewDependencies {
  /** undefined: only what needs no SubjectAccessReview is allowed. */
  readonly client: KubeClient | undefined;
  /** Paths that everyone may read; `*` at the end matches any suffix (--authorization-always-allow-paths). */
  readonly alwaysAllowPaths: readonly string[];
  /** How long "allowed" is cached (--authorization-webhook-cache-authorized-ttl). */
  readonly allowedMs: number;
  /** How long "denied" is cached (--authorization-webhook-cache-unauthorized-ttl). */
  readonly deniedMs: number;
}

/** client-go's limit for both reviews (apiserver/pkg/server/options/{authentication,authorization}.go v0.36.3). */
const TIMEOUT_MS = 10_000;

/** Capacities of the caches. */
const DECISIONS = 8192;
const TOKENS = 4096;

/** Authorizes requests through SubjectAccessReviews. Rejects when the API server cannot be asked. */
export function authorizer({ client, clock, signal, alwaysAllowPaths, allowedMs, deniedMs }: AuthorizerDependencies) {
  const cache = new ExpiringCache<SubjectAccessReview>(
    DECISIONS,
    ({ allowed }) => (allowed ? allowedMs : deniedMs),
    clock,
  );
  return async ({ user, verb, path }: Attributes): Promise<boolean> => {
    if (alwaysAllowPaths.some((pattern) => matches(pattern, path))) return true;
    const { name, uid, groups, extra } = user;
    if (groups.includes(MASTERS_GROUP)) return true;
    if (client === undefined) return false;
    const spec = { user: name, uid, groups, extra, nonResourceAttributes: { verb, path } };
    const { allowed } = await cache.get(JSON.stringify(spec), () =>
      client.create(SUBJECT_ACCESS_REVIEWS, undefined, { spec }, { signal, timeoutMs: TIMEOUT_MS }),
    );
    return allowed;
  };
}

function matches(pattern: string, path: string): boolean {
  return pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}

export interface TokenAuthenticatorDependencies extends ReviewDependencies {
  readonly client: KubeClient;
  /** How long a result is cached (--authentication-token-webhook-cache-ttl). */
  readonly cacheMs: number;
}

/** Rejects when the API server cannot be asked. */
export type TokenAuthenticator = (token: string) => Promise<Identity>;

/** Authenticates bearer tokens through TokenReviews. */
export function tokenAuthenticator(dependencies: TokenAuthenticatorDependencies): TokenAuthenticator {
  const { client, clock, signal, cacheMs } = dependencies;
  const cache = new ExpiringCache<TokenReview>(TOKENS, () => cacheMs, clock);
  return async (token) => {
    // Only a digest is kept: a heap dump must not contain users' tokens.
    const key = createHash("sha256").update(token).digest("base64");
    const review = await cache.get(key, () =>
      client.create(TOKEN_REVIEWS, undefined, { spec: { token } }, { signal, timeoutMs: TIMEOUT_MS }),
    );
    if (review.authenticated) return { kind: "user", user: { ...review.user, name: review.user.username } };
    return { kind: "refused", message: review.error === "" ? "the API server does not know this token" : review.error };
  };
}

/** At most `capacity` values that expire; concurrent requests for one key share one call. */
export class ExpiringCache<Value> {
  readonly #clock: Clock;
  readonly #entries: Lru<string, { readonly value: Value; readonly untilMs: number }>;
  readonly #pending = new Map<string, Promise<Value>>();
  readonly #lifeMs: (value: Value) => number;

  constructor(capacity: number, lifeMs: (value: Value) => number, clock: Clock) {
    this.#clock = clock;
    this.#entries = new Lru(capacity);
    this.#lifeMs = lifeMs;
  }

  /** The cached value, or the result of `read`. A failure is not cached. */
  async get(key: string, read: () => Promise<Value>): Promise<Value> {
    const cached = this.#entries.get(key);
    if (cached !== undefined && this.#clock.monotonicMs() < cached.untilMs) return cached.value;
    return this.#pending.get(key) ?? this.#read(key, read);
  }

  #read(key: string, read: () => Promise<Value>): Promise<Value> {
    const pending = read()
      .then((value) => {
        this.#entries.set(key, { value, untilMs: this.#clock.monotonicMs() + this.#lifeMs(value) });
        return value;
      })
      .finally(() => this.#pending.delete(key));
    this.#pending.set(key, pending);
    return pending;
  }
}
