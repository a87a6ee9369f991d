import { ProviderError } from "@cloudwire/provider-sdk";
import type { Static, TSchema } from "typebox";
import { answerOf } from "./answer.ts";
import { type EndpointInterface, endpointOf, regionsOf, type ServiceName } from "./catalog.ts";
import { toProviderError } from "./errors.ts";
import { type Credentials, Keystone, type CallScope, type Session } from "./keystone.ts";
import { parsed, readRefusal } from "./refusal.ts";

/** The cloud, as the operator names it. */
export interface CloudSettings extends Credentials {
  readonly region: string;
  readonly endpointInterface: EndpointInterface;
}

/** Query of a request; a list is a parameter that is given several times. */
export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

interface Request {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below the service's endpoint, with its query. */
  readonly path: string;
  readonly body?: object | undefined;
}

/**
 * Least microversion of Nova's API that has what is relied on: with 2.69 the first page of a list also has the servers of a cell that does not answer,
 * and does not leave them out without a word. Nova has it since the release Stein.
 */
const computeMicroversion = "2.69";

/** The way to OpenStack: requests with a token, counted by the SDK, and errors of the contract. */
export class OpenStack {
  readonly region: string;
  readonly #keystone: Keystone;
  readonly #interface: EndpointInterface;
  readonly #nowMs: () => number;

  constructor(settings: CloudSettings, nowMs: () => number) {
    this.region = settings.region;
    this.#keystone = new Keystone(settings, nowMs);
    this.#interface = settings.endpointInterface;
    this.#nowMs = nowMs;
  }

  /** The project of the credentials. @throws ProviderError */
  async projectId(callScope: CallScope): Promise<string> {
    return (await this.#keystone.session(callScope)).projectId;
  }

  /** @throws ProviderError */
  async get<Schema extends TSchema>(
    callScope: CallScope,
    service: ServiceName,
    path: string,
    schema: Schema,
    query: Query = {},
  ): Promise<Static<Schema>> {
    const asked = path + queryText(query);
    const answer = await this.#request(callScope, service, { method: "GET", path: asked });
    return answerOf(schema, answer, `${service} GET ${asked}`);
  }

  /** @throws ProviderError */
  async send<Schema extends TSchema>(
    callScope: CallScope,
    service: ServiceName,
    method: "POST" | "PUT",
    path: string,
    body: object,
    schema: Schema,
  ): Promise<Static<Schema>> {
    const answer = await this.#request(callScope, service, { method, path, body });
    return answerOf(schema, answer, `${service} ${method} ${path}`);
  }

  /** @throws ProviderError, also if the object does not exist: the caller decides what that means. */
  async delete(callScope: CallScope, service: ServiceName, path: string): Promise<void> {
    await this.#request(callScope, service, { method: "DELETE", path });
  }

  async #request(callScope: CallScope, service: ServiceName, request: Request): Promise<unknown> {
    const session = await this.#keystone.session(callScope);
    const response = await this.#sendOnce(callScope, session, service, request);
    if (response.status !== 401) return this.#settle(response, service, request);
    // Refused before anything was done: a token may be revoked at any time.
    await response.body?.cancel();
    this.#keystone.drop(session.token);
    const renewed = await this.#keystone.session(callScope);
    return this.#settle(await this.#sendOnce(callScope, renewed, service, request), service, request);
  }

  async #sendOnce(
    { fetch, signal }: CallScope,
    session: Session,
    service: ServiceName,
    { method, path, body }: Request,
  ): Promise<Response> {
    return fetch(this.#endpoint(session, service) + path, {
      method,
      signal,
      headers: {
        accept: "application/json",
        "x-auth-token": session.token,
        ...(service === "compute" ? { "openstack-api-version": `compute ${computeMicroversion}` } : {}),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  #endpoint({ catalog }: Session, service: ServiceName): string {
    const endpoint = endpointOf(catalog, service, this.region, this.#interface);
    if (endpoint !== undefined) return endpoint;
    const known = regionsOf(catalog).join(", ");
    const message = `the service catalog has no ${this.#interface} endpoint of ${service} in region ${this.region}: check --region and --interface; its regions are ${known}`;
    throw new ProviderError("CLOUD_SETUP_INVALID", message);
  }

  async #settle(response: Response, service: ServiceName, { method, path }: Request): Promise<unknown> {
    if (!response.ok) {
      const [asked] = path.split("?");
      throw toProviderError(await readRefusal(response, `${service} ${method} ${asked}`, this.#nowMs()));
    }
    const text = await response.text();
    return text === "" ? undefined : parsed(text);
  }
}

/** `?a=1&b=2&b=3`, or nothing. */
function queryText(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined) parameters.append(key, String(each));
    }
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}
