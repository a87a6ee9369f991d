import type { KubeConfig } from "@kubernetes/client-node";
import { readFile } from "node:fs/promises";
import type { RequestOptions } from "node:https";
import { dirname, resolve } from "node:path";
import { readYaml } from "../../options/text-file.ts";
import type { Clock } from "../../util/clock.ts";
import { messageOf } from "../../util/errors.ts";
import { isRecord } from "../../util/json.ts";
import { isPair } from "../../util/pem-pair.ts";
import { type ApiAccess, AccessError, type Credentials, type TlsOptions } from "./access.ts";

/** Certificates and tokens of a kubeconfig may be files that somebody rotates: read again after this long. */
const REREAD_MS = 60_000;

export interface KubeconfigDependencies {
  /** Path of the kubeconfig file. */
  readonly path: string;
  /** @default the file's current-context */
  readonly context?: string;
  /** Takes the place of the server in the file (--master). */
  readonly server?: string;
  readonly clock: Clock;
}

/**
 * Access by a kubeconfig file: certificates, tokens, token files, exec plugins, OIDC. client-node does the reading and the
 * authentication, and is loaded only here, because importing it costs 90 ms and up to 60 MiB.
 */
export async function kubeconfigAccess(dependencies: KubeconfigDependencies): Promise<ApiAccess> {
  const file = new KubeconfigFile(dependencies);
  const config = await file.load();
  const cluster = config.getCurrentCluster();
  const context = config.getCurrentContext();
  const server = dependencies.server ?? cluster?.server;
  if (server === undefined || server === "") {
    throw new AccessError(`kubeconfig ${dependencies.path}: context "${context}" has no cluster with a server address`);
  }
  if (!/^https?:\/\//.test(server)) {
    throw new AccessError(`kubeconfig ${dependencies.path}: server "${server}" is not an http:// or https:// address`);
  }
  const credentials = new CachedCredentials(file, config, dependencies.clock);
  return {
    server,
    description: `kubeconfig ${dependencies.path}, context "${context}"`,
    proxyUrl: cluster?.proxyUrl,
    credentials: (renew) => credentials.get(renew),
  };
}

class KubeconfigFile {
  readonly #path: string;
  readonly #context: string | undefined;
  #tokenFile: string | undefined;

  constructor({ path, context }: KubeconfigDependencies) {
    this.#path = path;
    this.#context = context;
  }

  get path(): string {
    return this.#path;
  }

  /** Where the token of the current user is, once the kubeconfig has been loaded. */
  get tokenFile(): string | undefined {
    return this.#tokenFile;
  }

  async load(): Promise<KubeConfig> {
    const text = await this.#read();
    if (text.trim() === "") throw new AccessError(`kubeconfig ${this.#path} is not a valid kubeconfig: it is empty`);
    const { KubeConfig } = await import("@kubernetes/client-node");
    const config = new KubeConfig();
    try {
      config.loadFromString(text);
      config.makePathsAbsolute(dirname(this.#path));
    } catch (error) {
      // Without the cause, which shows the lines around the mistake: there may be tokens in them.
      throw new AccessError(`kubeconfig ${this.#path} is not a valid kubeconfig: ${firstLine(error)}`);
    }
    if (this.#context !== undefined) config.setCurrentContext(this.#context);
    this.#requireContext(config);
    this.#tokenFile = tokenFileOf(text, config.getCurrentUser()?.name, dirname(this.#path));
    return config;
  }

  async #read(): Promise<string> {
    try {
      return await readFile(this.#path, "utf8");
    } catch (error) {
      throw new AccessError(`cannot read kubeconfig ${this.#path}: ${firstLine(error)}`, { cause: error });
    }
  }

  #requireContext(config: KubeConfig): void {
    const name: string | undefined = config.getCurrentContext();
    if (name === undefined || name === "") {
      throw new AccessError(`kubeconfig ${this.#path} has no current-context: set one with kubectl config use-context`);
    }
    if (config.getContextObject(name) !== null) return;
    const known = config.getContexts().map((context) => `"${context.name}"`);
    throw new AccessError(`kubeconfig ${this.#path} has no context "${name}"; it has ${known.join(", ") || "none"}`);
  }
}

class CachedCredentials {
  readonly #file: KubeconfigFile;
  readonly #clock: Clock;
  #config: KubeConfig;
  #last: Credentials | undefined;
  #atMs = 0;
  /** One question at a time: requests that start together must not start an exec plugin each. */
  #asking: Promise<Credentials> | undefined;

  constructor(file: KubeconfigFile, config: KubeConfig, clock: Clock) {
    this.#file = file;
    this.#config = config;
    this.#clock = clock;
  }

  async get(renew: boolean): Promise<Credentials> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#last !== undefined && !renew && nowMs - this.#atMs < this.#lifeMs()) return this.#last;
    this.#asking ??= this.#renew(renew).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #renew(reload: boolean): Promise<Credentials> {
    // A plugin's answer is cached inside the loaded config: only a fresh one asks again.
    try {
      if (reload) this.#config = await this.#file.load();
      const asked = await this.#ask();
      // Written one after the other, the two do not fit for a moment; and an expired one is worth no more than one that is not.
      const nowMs = this.#clock.nowMs();
      if (this.#last === undefined || isPair(asked.tls, nowMs) || !isPair(this.#last.tls, nowMs)) this.#last = asked;
    } catch (error) {
      // A file being replaced just now is no reason to stop. A plugin that fails is: its last answer has ended.
      if (this.#last === undefined || this.#lifeMs() === 0) throw error;
    }
    this.#atMs = this.#clock.monotonicMs();
    return this.#last;
  }

  /** An exec plugin or OIDC knows when its own token ends and answers from memory until then: asking each time is right and cheap. */
  #lifeMs(): number {
    const user = this.#config.getCurrentUser();
    return user?.exec !== undefined || user?.authProvider?.name === "oidc" ? 0 : REREAD_MS;
  }

  async #ask(): Promise<Credentials> {
    const options: RequestOptions = { headers: {} };
    try {
      await this.#config.applyToHTTPSOptions(options);
    } catch (error) {
      // Without the cause: it has all that a plugin wrote.
      throw new AccessError(`kubeconfig ${this.#file.path}: cannot get credentials: ${firstLine(error)}`);
    }
    const headers = headersOf(options);
    const { tokenFile } = this.#file;
    if (tokenFile !== undefined) headers["authorization"] = `Bearer ${await this.#readToken(tokenFile)}`;
    return { headers, tls: tlsOf(options) };
  }

  async #readToken(path: string): Promise<string> {
    try {
      return (await readFile(path, "utf8")).trim();
    } catch (error) {
      throw new AccessError(`kubeconfig ${this.#file.path}: cannot read tokenFile ${path}: ${firstLine(error)}`, {
        cause: error,
      });
    }
  }
}

/**
 * client-node 2.0.1 knows no tokenFile, only token-file, which nobody writes. As in client-go it comes before a token, and its path is
 * relative to the kubeconfig.
 */
function tokenFileOf(text: string, userName: string | undefined, folder: string): string | undefined {
  const reading = readYaml(text);
  const content: unknown = reading.kind === "document" ? reading.document.toJS() : undefined;
  const users: readonly unknown[] = isRecord(content) && Array.isArray(content["users"]) ? content["users"] : [];
  const user = users.filter(isRecord).find(({ name }) => name === userName)?.["user"];
  const file = isRecord(user) ? user["tokenFile"] : undefined;
  return typeof file === "string" && file !== "" ? resolve(folder, file) : undefined;
}

function headersOf({ headers = {}, auth }: RequestOptions): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) result[name.toLowerCase()] = String(value);
  }
  if (typeof auth === "string") result["authorization"] = `Basic ${Buffer.from(auth).toString("base64")}`;
  return result;
}

function tlsOf(options: RequestOptions): TlsOptions {
  const { passphrase, servername, rejectUnauthorized } = options;
  const ca = pem(options.ca);
  const cert = pem(options.cert);
  const key = pem(options.key);
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(servername === undefined ? {} : { servername }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
  };
}

function pem(value: unknown): string | Buffer | undefined {
  return typeof value === "string" || Buffer.isBuffer(value) ? value : undefined;
}

function firstLine(error: unknown): string {
  return messageOf(error).split("\n", 1)[0] ?? "";
}
