import { Agent, request } from "node:https";
import type { ControlPlane } from "@cloudwire/control-plane";

/** An object as JSON; tests look at what they need of it. */
export type Json = Readonly<Record<string, unknown>>;

export interface KubeAnswer {
  readonly status: number;
  readonly body: unknown;
}

const TIMEOUT_MS = 30_000;

/** A bare client of the API server, as the administrator: no code of the controller under test. */
export class Kube implements Disposable {
  readonly #controlPlane: ControlPlane;
  readonly #agent: Agent;

  constructor(controlPlane: ControlPlane) {
    const { client } = controlPlane.adminKubeconfig;
    this.#controlPlane = controlPlane;
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: 16,
      ca: controlPlane.caPem,
      cert: client.certificate,
      key: client.key,
    });
  }

  /** The object, or undefined when there is none. Any other failure throws. */
  async find(path: string): Promise<Json | undefined> {
    const { status, body } = await this.send("GET", path);
    if (status === 404) return undefined;
    return this.#expectOk("GET", path, status, body);
  }

  async get(path: string): Promise<Json> {
    const found = await this.find(path);
    if (found === undefined) throw new Error(`GET ${path}: there is no such object`);
    return found;
  }

  async items(path: string): Promise<readonly Json[]> {
    return listOf((await this.get(path))["items"]);
  }

  async create(path: string, object: object): Promise<Json> {
    const { status, body } = await this.send("POST", path, object);
    return this.#expectOk("POST", path, status, body);
  }

  async patch(path: string, patch: object): Promise<Json> {
    const { status, body } = await this.send("PATCH", path, patch);
    return this.#expectOk("PATCH", path, status, body);
  }

  async delete(path: string): Promise<void> {
    const { status, body } = await this.send("DELETE", path);
    this.#expectOk("DELETE", path, status, body);
  }

  send(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, payload?: object): Promise<KubeAnswer> {
    const type = method === "PATCH" ? "application/strategic-merge-patch+json" : "application/json";
    const { promise, resolve, reject } = Promise.withResolvers<KubeAnswer>();
    const outgoing = request(
      `${this.#controlPlane.server}${path}`,
      {
        method,
        agent: this.#agent,
        timeout: TIMEOUT_MS,
        headers: { "content-type": type, accept: "application/json" },
      },
      (incoming) => {
        const parts: Buffer[] = [];
        incoming.on("data", (part: Buffer) => parts.push(part));
        incoming.once("error", reject);
        incoming.once("end", () => {
          const body: unknown = JSON.parse(Buffer.concat(parts).toString());
          resolve({ status: incoming.statusCode ?? 0, body });
        });
      },
    );
    outgoing.once("timeout", () => outgoing.destroy(new Error(`${method} ${path}: no answer within ${TIMEOUT_MS} ms`)));
    outgoing.once("error", reject);
    outgoing.end(payload === undefined ? undefined : JSON.stringify(payload));
    return promise;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  #expectOk(method: string, path: string, status: number, body: unknown): Json {
    if (status >= 300 || !isJson(body)) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at a path of keys; undefined as soon as one is missing. */
export function at(value: unknown, ...keys: readonly (string | number)[]): unknown {
  return keys.reduce<unknown>((current, key) => {
    if (Array.isArray(current)) return typeof key === "number" ? current[key] : undefined;
    return isJson(current) ? current[key] : undefined;
  }, value);
}

export function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}
