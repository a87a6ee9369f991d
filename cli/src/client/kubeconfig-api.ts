import type { KubeConfig } from "@kubernetes/client-node";
import type { IncomingMessage, RequestOptions } from "node:http";
import { CommandError, messageOf } from "../errors.ts";
import type { OptionValues } from "../options/option.ts";
import { type Credentials, type KubeApi, type Right, ruleOf } from "./kube-api.ts";
import { at, isRecord, textAt } from "./json.ts";
import { loadKubeconfig } from "./kubeconfig.ts";
import { openPortForward } from "./port-forward.ts";
import { send, textOf, whyUntrusted } from "./send.ts";

const TIMEOUT_MS = 15_000;
const MOST_BYTES = 64e6;
const PAGE_SIZE = 500;

export interface KubeChoice {
  readonly values: OptionValues;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Breaks off what is asked; not a change, of which it has to be known whether it came about. */
  readonly ending: AbortSignal;
}

/** The API server that the options name. */
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

  readonly get = (path: string, right: Right): Promise<unknown> => this.#ask("GET", path, right);

  readonly create = (path: string, body: object, right: Right): Promise<unknown> =>
    this.#ask("POST", path, right, body);

  readonly patch = (path: string, body: object, right: Right): Promise<unknown> =>
    this.#ask("PATCH", path, right, body);

  readonly list = async (path: string, right: Right): Promise<readonly unknown[]> => {
    const items: unknown[] = [];
    let token = "";
    do {
      const url = new URL(path, "http://api");
      url.searchParams.set("limit", String(PAGE_SIZE));
      if (token !== "") url.searchParams.set("continue", token);
      const page = await this.#ask("GET", `${url.pathname}${url.search}`, right);
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
    // Both prove the same; a certificate's key stays here, a token would be handed over.
    if (certificate !== undefined && key !== undefined) return { certificate, key };
    const header = Object.entries(options.headers ?? {}).find(([name]) => name.toLowerCase() === "authorization");
    const token = /^Bearer (\S+)$/.exec(String(header?.[1] ?? ""))?.[1];
    return token === undefined ? {} : { token };
  };

  async #ask(method: "GET" | "POST" | "PATCH", path: string, right: Right, body?: object): Promise<unknown> {
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
      const answer = await send({ url, method, headers, ...text, options, signal, timeoutMs: TIMEOUT_MS });
      return this.#read(answer, await textOf(answer, MOST_BYTES, TIMEOUT_MS), right);
    } catch (error) {
      if (error instanceof CommandError) throw error;
      const untrusted = whyUntrusted(error);
      const advice =
        untrusted === undefined
          ? "--kubeconfig and --context name another one, and --server asks a controller directly"
          : "see that the certificate-authority of the kubeconfig is this server's";
      throw new CommandError(
        `the API server ${this.server} cannot be reached: ${untrusted ?? messageOf(error)}; ${advice}`,
        { cause: error },
      );
    }
  }

  #read({ statusCode = 0 }: IncomingMessage, text: string, right: Right): unknown {
    if (statusCode === 404) return undefined;
    if (statusCode === 401)
      throw new CommandError(
        `the API server ${this.server} does not know who you are (401): the credentials of the kubeconfig are missing or have expired`,
      );
    const body: unknown = jsonOf(text);
    if (statusCode === 403)
      throw new CommandError(
        `the API server forbids it: ${textAt(body, "message") || "403"}; it takes ${ruleOf(right)}`,
      );
    if (statusCode >= 300)
      throw new CommandError(
        `the API server ${this.server} answered ${statusCode}: ${textAt(body, "message") || text.slice(0, 200)}`,
      );
    if (!isRecord(body))
      throw new CommandError(`the API server ${this.server} answered with something that is no object`);
    return body;
  }

  async #options(): Promise<RequestOptions> {
    const options: RequestOptions = { headers: {} };
    try {
      await this.#config.applyToHTTPSOptions(options);
    } catch (error) {
      // Without the cause: it has all that a plugin wrote.
      const [first = ""] = messageOf(error).trim().split("\n", 1);
      throw new CommandError(
        `cannot get credentials as the kubeconfig says: ${first || "its command failed without a word"}; see whether kubectl gets any with it`,
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
