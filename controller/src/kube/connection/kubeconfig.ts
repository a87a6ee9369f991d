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

/** Certificates and tokens may be files that are rotated: read them again after this time. */
const REREAD_MS = 60_000;

export interface KubeconfigDependencies {
  readonly path: string;
  /** @default the file's current-context */
  readonly context?: string;
  /** Replaces the server of the file (--master). */
  readonly server?: string;
  readonly clock: Clock;
}

/**
 * Access by a kubeconfig file: certificates, tokens, token files, exec plugins, OIDC. Only this file loads client-node, which costs 90 ms
 * and up to 60 MiB.
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
  readonly path: string;
  readonly #context: string | undefined;
  /** Token file of the current user, after the kubeconfig was loaded. */
  tokenFile: string | undefined;

  constructor({ path, context }: KubeconfigDependencies) {
    this.path = path;
    this.#context = context;
  }

  async load(): Promise<KubeConfig> {
    const text = await read(this.path, `cannot read kubeconfig ${this.path}`);
    if (text.trim() === "") throw new AccessError(`kubeconfig ${this.path} is not a valid kubeconfig: it is empty`);
    const { KubeConfig } = await import("@kubernetes/client-node");
    const config = new KubeConfig();
    try {
      config.loadFromString(text);
      config.makePathsAbsolute(dirname(this.path));
    } catch (error) {
      // Without the cause: it quotes lines of the file, which may contain tokens.
      throw new AccessError(`kubeconfig ${this.path} is not a valid kubeconfig: ${firstLine(error)}`);
    }
    if (this.#context !== undefined) config.setCurrentContext(this.#context);
    this.#requireContext(config);
    this.tokenFile = tokenFileOf(text, config.getCurrentUser()?.name, dirname(this.path));
    return config;
  }

  #requireContext(config: KubeConfig): void {
    const name: string | undefined = config.getCurrentContext();
    if (name === undefined || name === "") {
      throw new AccessError(`kubeconfig ${this.path} has no current-context: set one with kubectl config use-context`);
    }
    if (config.getContextObject(name) !== null) return;
    const known = config.getContexts().map((context) => `"${context.name}"`);
    throw new AccessError(`kubeconfig ${this.path} has no context "${name}"; it has ${known.join(", ") || "none"}`);
  }
}

class CachedCredentials {
  readonly #file: KubeconfigFile;
  readonly #clock: Clock;
  #config: KubeConfig;
  #last: Credentials | undefined;
  #atMs = 0;
  /** One request at a time: concurrent calls must not start an exec plugin each. */
  #pending: Promise<Credentials> | undefined;

  constructor(file: KubeconfigFile, config: KubeConfig, clock: Clock) {
    this.#file = file;
    this.#config = config;
    this.#clock = clock;
  }

  async get(renew: boolean): Promise<Credentials> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#last !== undefined && !renew && nowMs - this.#atMs < this.#lifeMs()) return this.#last;
    this.#pending ??= this.#renew(renew).finally(() => {
      this.#pending = undefined;
    });
    return this.#pending;
  }

  async #renew(reload: boolean): Promise<Credentials> {
    // The loaded config caches a plugin's result: only a new one runs it again.
    try {
      if (reload) this.#config = await this.#file.load();
      const fresh = await this.#credentials();
      // While certificate and key are being replaced one after the other, keep the last matching and unexpired pair.
      const nowMs = this.#clock.nowMs();
      if (this.#last === undefined || isPair(fresh.tls, nowMs) || !isPair(this.#last.tls, nowMs)) this.#last = fresh;
    } catch (error) {
      // The files may be being replaced. The failure of a plugin counts: its last result has expired.
      if (this.#last === undefined || this.#lifeMs() === 0) throw error;
    }
    this.#atMs = this.#clock.monotonicMs();
    return this.#last;
  }

  /** 0 for exec plugins and OIDC, which cache their tokens until they expire. */
  #lifeMs(): number {
    const user = this.#config.getCurrentUser();
    return user?.exec !== undefined || user?.authProvider?.name === "oidc" ? 0 : REREAD_MS;
  }

  async #credentials(): Promise<Credentials> {
    const options: RequestOptions = { headers: {} };
    try {
      await this.#config.applyToHTTPSOptions(options);
    } catch (error) {
      // Without the cause: it contains the plugin's output.
      throw new AccessError(`kubeconfig ${this.#file.path}: cannot get credentials: ${firstLine(error)}`);
    }
    const headers = headersOf(options);
    const { path, tokenFile } = this.#file;
    if (tokenFile !== undefined) {
      const token = await read(tokenFile, `kubeconfig ${path}: cannot read tokenFile ${tokenFile}`);
      headers["authorization"] = `Bearer ${token.trim()}`;
    }
    return { headers, tls: tlsOf(options) };
  }
}

async function read(path: string, failure: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new AccessError(`${failure}: ${firstLine(error)}`, { cause: error });
  }
}

/**
 * client-node 2.0.1 reads token-file instead of tokenFile. As in client-go, tokenFile takes precedence over a token and is relative to the
 * kubeconfig.
 */
function tokenFileOf(text: string, userName: string | undefined, directory: string): string | undefined {
  const reading = readYaml(text);
  const content: unknown = reading.kind === "document" ? reading.document.toJS() : undefined;
  const users: readonly unknown[] = isRecord(content) && Array.isArray(content["users"]) ? content["users"] : [];
  const user = users.filter(isRecord).find(({ name }) => name === userName)?.["user"];
  const file = isRecord(user) ? user["tokenFile"] : undefined;
  return typeof file === "string" && file !== "" ? resolve(directory, file) : undefined;
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
  const [ca, cert, key] = [pem(options.ca), pem(options.cert), pem(options.key)];
  return {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(passphrase !== undefined && { passphrase }),
    ...(servername !== undefined && { servername }),
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
  };
}

function pem(value: unknown): string | Buffer | undefined {
  return typeof value === "string" || Buffer.isBuffer(value) ? value : undefined;
}

function firstLine(error: unknown): string {
  return messageOf(error).split("\n", 1)[0] ?? "";
}
