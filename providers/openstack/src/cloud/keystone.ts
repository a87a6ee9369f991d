import { type CloudFetch, ProviderError } from "@cloudwire/provider-sdk";
import { Type } from "typebox";
import { answerOf } from "./answer.ts";
import { type Catalog, catalogSchema } from "./catalog.ts";
import { OpenStackRefusal, type Refusal, toProviderError } from "./errors.ts";
import { parsed, readRefusal } from "./refusal.ts";

/** What a request to OpenStack is made for: calls of the contract and background checks have it. */
export interface CallScope {
  readonly signal: AbortSignal;
  readonly fetch: CloudFetch;
}

/** An application credential of Keystone. */
export interface Credentials {
  /** Of Keystone, with or without `/v3`. */
  readonly authUrl: string;
  readonly applicationCredentialId: string;
  /** Read for each token, so that a changed secret takes effect. */
  readonly readSecret: () => Promise<string>;
}

/** A token and what came with it. */
export interface Session {
  readonly token: string;
  readonly projectId: string;
  readonly catalog: Catalog;
  readonly issuedMs: number;
  readonly expiresMs: number;
}

const answerSchema = Type.Object({
  token: Type.Object({
    expires_at: Type.String(),
    project: Type.Object({ id: Type.String() }),
    catalog: catalogSchema,
  }),
});

/** A token with less time left is not used any more: a change may take as long. */
const leastLeftMs = 5 * 60_000;

/** When a token is to be renewed: a while before its end, and no later than after half its life where it lives shortly. */
export function renewAtMs({ issuedMs, expiresMs }: Pick<Session, "issuedMs" | "expiresMs">): number {
  return Math.max(expiresMs - leastLeftMs, issuedMs + (expiresMs - issuedMs) / 2);
}

/** Of a credential that was deleted, or never was, Keystone says that it is not found: that is one more way of being refused. */
export function refused(refusal: Refusal): ProviderError {
  if (refusal.status !== 404) return toProviderError(refusal);
  const message = `Keystone has no such application credential, or its URL is wrong: ${refusal.text}`;
  return new ProviderError("CLOUD_CREDENTIALS_INVALID", message, { cause: new OpenStackRefusal(refusal) });
}

/** Gets tokens, and new ones in time. Concurrent callers share one request. */
export class Keystone {
  readonly #credentials: Credentials;
  readonly #nowMs: () => number;
  #session: Session | undefined;
  #asking: Promise<Session> | undefined;
  /** The project of the first token: with another project's token every object would be missing. */
  #projectId: string | undefined;

  constructor(credentials: Credentials, nowMs: () => number) {
    this.#credentials = credentials;
    this.#nowMs = nowMs;
  }

  /** @throws ProviderError */
  async session(callScope: CallScope): Promise<Session> {
    const fresh = this.#fresh();
    if (fresh) return fresh;
    const shared = this.#asking;
    if (shared) {
      // It ends with the call that it was begun for; then this one asks for itself.
      const session = await shared.catch(() => undefined);
      if (session) return session;
      callScope.signal.throwIfAborted();
    }
    const own = this.#ask(callScope);
    this.#asking = own;
    try {
      this.#session = await own;
      return this.#session;
    } finally {
      if (this.#asking === own) this.#asking = undefined;
    }
  }

  /** A service refused the token: it was revoked. The next request gets a new one. */
  drop(token: string): void {
    if (this.#session?.token === token) this.#session = undefined;
  }

  #fresh(): Session | undefined {
    const session = this.#session;
    return session && this.#nowMs() < renewAtMs(session) ? session : undefined;
  }

  async #ask({ fetch, signal }: CallScope): Promise<Session> {
    const { authUrl, applicationCredentialId: id, readSecret } = this.#credentials;
    const credential = { id, secret: await readSecret() };
    const identity = { methods: ["application_credential"], application_credential: credential };
    const issuedMs = this.#nowMs();
    const response = await fetch(`${authUrl.replace(/(?:\/v3)?\/*$/, "")}/v3/auth/tokens`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ auth: { identity } }),
      signal,
      // A second token does no harm.
      retry: true,
    });
    const request = "identity POST /auth/tokens";
    if (!response.ok) throw refused(await readRefusal(response, request, this.#nowMs()));
    const token = response.headers.get("x-subject-token");
    if (token === null) throw new ProviderError("INCOMPLETE_ANSWER", `${request} returned no token`);
    const answer = answerOf(answerSchema, parsed(await response.text()), request).token;
    this.#confirmProject(answer.project.id);
    const expiresMs = Date.parse(answer.expires_at);
    return { token, projectId: answer.project.id, catalog: answer.catalog, issuedMs, expiresMs };
  }

  #confirmProject(projectId: string): void {
    this.#projectId ??= projectId;
    if (projectId === this.#projectId) return;
    const message = `the application credential is now one of project ${projectId}, but the provider was started for ${this.#projectId}: use one of that project, or restart the provider`;
    throw new ProviderError("CLOUD_CREDENTIALS_INVALID", message);
  }
}
