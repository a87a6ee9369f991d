import type { JsonObject, KubeClient } from "../../kube/client.ts";
import { SUBJECT_ACCESS_REVIEWS, type SubjectAccessReview } from "../../kube/resources/reviews.ts";
import type { Clock } from "../../util/clock.ts";
import { ExpiringCache } from "./expiring-cache.ts";
import { MASTERS_GROUP, type User } from "./user.ts";

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

/** As client-go's delegated authoriser. */
const TIMEOUT_MS = 10_000;

const CAPACITY = 8192;

/** Decides who may read which path: as the API server would, by asking it. */
export class Authorizer {
  readonly #deps: AuthorizerDependencies;
  readonly #answers: ExpiringCache<SubjectAccessReview>;

  constructor(dependencies: AuthorizerDependencies) {
    const { allowedMs, deniedMs, clock } = dependencies;
    this.#deps = dependencies;
    this.#answers = new ExpiringCache(CAPACITY, ({ allowed }) => (allowed ? allowedMs : deniedMs), clock);
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
