import { createHash } from "node:crypto";
import type { JsonObject, KubeClient } from "../../kube/client.ts";
import {
  SUBJECT_ACCESS_REVIEWS,
  type SubjectAccessReview,
  TOKEN_REVIEWS,
  type TokenReview,
} from "../../kube/resources/reviews.ts";
import type { Clock } from "../../util/clock.ts";
import { Lru } from "../../util/lru.ts";

export interface AuthorizerDependencies {
  /** undefined: nobody can be asked, and only what needs no asking is allowed. */
  readonly client: KubeClient | undefined;
  readonly clock: Clock;
  /** Ends calls under way. */
  readonly signal: AbortSignal;
  /** Paths that everybody may read; one that ends in `*` stands for all that begin so (--authorization-always-allow-paths). */
  readonly alwaysAllowPaths: readonly string[];
  /** How long a yes is good (--authorization-webhook-cache-authorized-ttl). */
  readonly allowedMs: number;
  /** How long a no is good (--authorization-webhook-cache-unauthorized-ttl). */
  readonly deniedMs: number;
}

/** What is asked for, in the words of RBAC's nonResourceURLs. */
export interface Attributes {
  readonly user: User;
  /** get, post, put, patch, delete, … */
  readonly verb: string;
  /** Without query. */
  readonly path: string;
}

/** client-go's limit for both reviews (apiserver/pkg/server/options/{authentication,authorization}.go v0.36.3). */
const TIMEOUT_MS = 10_000;

/** Answers that are kept. */
const DECISIONS = 8192;

/** Decides who may read which path: as the API server would, by asking it. */
export class Authorizer {
  readonly #deps: AuthorizerDependencies;
  readonly #answers: ExpiringCache<SubjectAccessReview>;

  constructor(dependencies: AuthorizerDependencies) {
    const { allowedMs, deniedMs, clock } = dependencies;
    this.#deps = dependencies;
    this.#answers = new ExpiringCache(DECISIONS, ({ allowed }) => (allowed ? allowedMs : deniedMs), clock);
  }

  /** Rejects when the API server cannot be asked. */
  async isAllowed(attributes: Attributes): Promise<boolean> {
    const { client, alwaysAllowPaths } = this.#deps;
    if (alwaysAllowPaths.some((pattern) => matches(pattern, attributes.path))) return true;
    if (attributes.user.groups.includes(MASTERS_GROUP)) return true;
    if (client === undefined) return false;
    const spec = reviewSpec(attributes);
    const { allowed } = await this.#answers.get(JSON.stringify(spec), () => this.#review(client, spec));
    return allowed;
  }

  #review(client: KubeClient, spec: JsonObject): Promise<SubjectAccessReview> {
    const { signal } = this.#deps;
    return client.create(SUBJECT_ACCESS_REVIEWS, undefined, { spec }, { signal, timeoutMs: TIMEOUT_MS });
  }
}

function matches(pattern: string, path: string): boolean {
  return pattern.endsWith("*") ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}

function reviewSpec({ user, verb, path }: Attributes): JsonObject {
  const { name, uid, groups, extra } = user;
  return { user: name, uid, groups, extra, nonResourceAttributes: { verb, path } };
}

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

const TOKENS = 4096;

/** Asks the API server whose a bearer token is. */
export class TokenAuthenticator {
  readonly #deps: TokenAuthenticatorDependencies;
  readonly #answers: ExpiringCache<TokenReview>;

  constructor(dependencies: TokenAuthenticatorDependencies) {
    this.#deps = dependencies;
    this.#answers = new ExpiringCache(TOKENS, () => dependencies.cacheMs, dependencies.clock);
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

interface Entry<Value> {
  readonly value: Value;
  readonly untilMs: number;
}

/** Answers that are good for a while; at most `capacity`, and asked for once however many ask at the same time. */
export class ExpiringCache<Value> {
  readonly #clock: Clock;
  readonly #entries: Lru<string, Entry<Value>>;
  readonly #asking = new Map<string, Promise<Value>>();
  readonly #lifeMs: (value: Value) => number;

  constructor(capacity: number, lifeMs: (value: Value) => number, clock: Clock) {
    this.#clock = clock;
    this.#entries = new Lru(capacity);
    this.#lifeMs = lifeMs;
  }

  /** The kept answer, or what `ask` answers. A failure is not kept. */
  async get(key: string, ask: () => Promise<Value>): Promise<Value> {
    const kept = this.#entries.get(key);
    if (kept !== undefined && this.#clock.monotonicMs() < kept.untilMs) return kept.value;
    const asking = this.#asking.get(key) ?? this.#ask(key, ask);
    return asking;
  }

  #ask(key: string, ask: () => Promise<Value>): Promise<Value> {
    const asking = ask()
      .then((value) => {
        this.#entries.set(key, { value, untilMs: this.#clock.monotonicMs() + this.#lifeMs(value) });
        return value;
      })
      .finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }
}

/** Who asks, as Kubernetes describes users. */
export interface User {
  readonly name: string;
  /** "" when whoever vouches for the user gave none. */
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

const UNAUTHENTICATED_GROUP = "system:unauthenticated";

/** Whoever presents nothing. */
export const ANONYMOUS: User = {
  name: "system:anonymous",
  uid: "",
  groups: [UNAUTHENTICATED_GROUP],
  extra: {},
};

/** May do everything: cluster administrators, by Kubernetes' convention. */
const MASTERS_GROUP = "system:masters";

const AUTHENTICATED_GROUP = "system:authenticated";

/** A user somebody vouches for is in this group as well, as on the API server; not one that a proxy passes on as nobody. */
export function authenticated(user: User): User {
  const { name, groups } = user;
  const isNobody = name === ANONYMOUS.name || groups.includes(UNAUTHENTICATED_GROUP);
  if (isNobody || groups.includes(AUTHENTICATED_GROUP)) return user;
  return { ...user, groups: [...groups, AUTHENTICATED_GROUP] };
}
