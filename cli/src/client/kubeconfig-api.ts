import type { KubeConfig } from "@kubernetes/client-node";
import type { IncomingMessage, RequestOptions } from "node:http";
import { CommandError, messageOf } from "../errors.ts";
import type { OptionValues } from "../options/option.ts";
import { type Credentials, type KubeApi, type Permission, ruleOf } from "./kube-api.ts";
import { at, isRecord, textAt } from "./json.ts";
import { loadKubeconfig } from "./kubeconfig.ts";
import { openPortForward } from "./port-forward.ts";
import { send, textOf, certificateProblem } from "./send.ts";

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 64e6;
const PAGE_SIZE = 500;

export interface KubeChoice {
  readonly values: OptionValues;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Cancels pending requests, except changes: their outcome would be unknown. */
  readonly ending: AbortSignal;
}

/** Connects to the API server that the options select. */
export async function connectKube({ values, environment, ending }: KubeChoice): Promise<KubeApi> {
  const config = await loadKubeconfig({
    file: values.text("kubeconfig"),
    context: values.text("context"),
    environment,
  });
  return new KubeconfigApi(config, ending);
}

class KubeconfigApi implements KubeApi {
  readonly #config: KubeConfig;
  readonly #ending: AbortSignal;
  readonly server: string;

  constructor(config: KubeConfig, ending: AbortSignal) {
    this.#config = config;
    this.#ending = ending;
    this.server = (config.getCurrentCluster()?.server ?? "").replace(/\/+$/, "");
  }

  readonly get = (path: string, permission: Permission): Promise<unknown> => this.#request("GET", path, permission);

  readonly create = (path: string, body: object, permission: Permission): Promise<unknown> =>
    this.#request("POST", path, permission, body);

  readonly patch = (path: string, body: object, permission: Permission): Promise<unknown> =>
    this.#request("PATCH", path, permission, body);

  readonly list = async (path: string, permission: Permission): Promise<readonly unknown[]> => {
    const items: unknown[] = [];
    let token = "";
    do {
      const url = new URL(path, "http://api");
      url.searchParams.set("limit", String(PAGE_SIZE));
      if (token !== "") url.searchParams.set("continue", token);
      const page = await this.#request("GET", `${url.pathname}${url.search}`, permission);
      const found = at(page, "items");
      if (Array.isArray(found)) items.push(...found);
      token = textAt(page, "metadata", "continue");
    } while (token !== "");
    return items;
  };

  readonly portForward: KubeApi["portForward"] = async (pod, signal) =>
    openPortForward({ server: this.server, options: await this.#options(), pod, signal });

  readonly credentials = async (): Promise<Credentials> => {
    const options = await this.#options();
    const certificate = pem(Reflect.get(options, "cert"));
    const key = pem(Reflect.get(options, "key"));
    // A certificate is preferred: its key is never sent, while a token is.
    if (certificate !== undefined && key !== undefined) return { certificate, key };
    const header = Object.entries(options.headers ?? {}).find(([name]) => name.toLowerCase() === "authorization");
    const token = /^Bearer (\S+)$/.exec(String(header?.[1] ?? ""))?.[1];
    return token === undefined ? {} : { token };
  };

  async #request(
    method: "GET" | "POST" | "PATCH",
    path: string,
    permission: Permission,
    body?: object,
  ): Promise<unknown> {
    const options = await this.#options();
    const headers: Record<string, string> = { accept: "application/json" };
    for (const [name, value] of Object.entries(options.headers ?? {}))
      if (value !== undefined) headers[name] = String(value);
    if (body !== undefined)
      headers["content-type"] = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const url = new URL(`${this.server}${path}`);
    const signal = method === "PATCH" ? undefined : this.#ending;
    try {
      const response = await send({ url, method, headers, ...text, options, signal, timeoutMs: TIMEOUT_MS });
      return this.#read(response, await textOf(response, MAX_BYTES, TIMEOUT_MS), permission);
    } catch (error) {
      if (error instanceof CommandError) throw error;
      const untrusted = certificateProblem(error);
      const advice =
        untrusted === undefined
          ? "specify another one with --kubeconfig and --context, or connect to a controller with --server"
          : "check certificate-authority in the kubeconfig";
      throw new CommandError(
        "API_SERVER_UNREACHABLE",
        `cannot reach the API server ${this.server}: ${untrusted ?? messageOf(error)}; ${advice}`,
        { cause: error },
      );
    }
  }

  #read({ statusCode = 0 }: IncomingMessage, text: string, permission: Permission): unknown {
    if (statusCode === 404) return undefined;
    if (statusCode === 401)
      throw new CommandError(
        "API_SERVER_UNAUTHORIZED",
        `the API server ${this.server} rejected the credentials of the kubeconfig (401): they are missing, invalid or expired`,
      );
    const body: unknown = jsonOf(text);
    if (statusCode === 403)
      throw new CommandError(
        "API_SERVER_FORBIDDEN",
        `permission denied by the API server: ${textAt(body, "message") || "403"}; you need ${ruleOf(permission)}`,
      );
    if (statusCode >= 300)
      throw new CommandError(
        "API_SERVER_ERROR",
        `the API server ${this.server} responded with ${statusCode}: ${textAt(body, "message") || text.slice(0, 200)}`,
      );
    if (!isRecord(body))
      throw new CommandError("API_SERVER_ERROR", `the response of the API server ${this.server} is not a JSON object`);
    return body;
  }

  async #options(): Promise<RequestOptions> {
    const options: RequestOptions = { headers: {} };
    try {
      await this.#config.applyToHTTPSOptions(options);
    } catch (error) {
      // Without the cause, which has the whole output of the plugin.
      const [first = ""] = messageOf(error).trim().split("\n", 1);
      throw new CommandError(
        "CREDENTIALS_UNAVAILABLE",
        `cannot get credentials from the kubeconfig: ${first || "its credential plugin failed without output"}; check that kubectl works with it`,
      );
    }
    return options;
  }
}

function pem(value: unknown): string | undefined {
  return typeof value === "string" || Buffer.isBuffer(value) ? value.toString() : undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
