import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { KubeClient } from "../../kube/client.ts";
import { CONFIG_MAPS } from "../../kube/resources/reviews.ts";
import type { Logger } from "../../telemetry/log.ts";
import { sleep } from "../../util/abort.ts";
import type { Clock } from "../../util/clock.ts";
import { deepEqual } from "../../util/equal.ts";
import { messageOf } from "../../util/errors.ts";
import { isRecord } from "../../util/json.ts";
import { PemFileError } from "../../util/pem-pair.ts";

/** Whose client certificates prove what. */
export interface ClientTrust {
  /** Certificates of these are users themselves. */
  readonly clients: readonly X509Certificate[];
  /** Certificates of these are proxies that say in headers who the user is. undefined: there are none. */
  readonly proxies: ProxyTrust | undefined;
}

/** The API server as a front proxy: `kubectl get --raw` through an aggregated API. */
export interface ProxyTrust {
  readonly authorities: readonly X509Certificate[];
  /** Common names that are believed; empty: every one. */
  readonly allowedNames: readonly string[];
  /** Lower case. The first that is there counts. */
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  /** Values of all of them count. */
  readonly groupHeaders: readonly string[];
  /** A header beginning so holds one more attribute of the user. */
  readonly extraPrefixes: readonly string[];
}

const NO_TRUST: ClientTrust = { clients: [], proxies: undefined };

/** All certificates a client may be verified by. */
export function authoritiesOf({ clients, proxies }: ClientTrust): readonly X509Certificate[] {
  return [...clients, ...(proxies?.authorities ?? [])];
}

/** The certificates of a PEM bundle. Throws with the number of the one that is wrong. */
export function parseBundle(pem: string): readonly X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error("holds no certificate in PEM form");
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (error) {
      throw new Error(`certificate ${index + 1} cannot be read: ${messageOf(error)}`, { cause: error });
    }
  });
}

/**
 * What the ConfigMap kube-system/extension-apiserver-authentication says, which the API server keeps so that servers like this one
 * know whom it trusts. Lists in it are JSON (apiserver/pkg/server/options/authentication_dynamic_request_header.go v0.36.3).
 */
export function trustFromConfigMap(data: Readonly<Record<string, string>>): ClientTrust {
  const clientBundle = data["client-ca-file"] ?? "";
  const proxyBundle = data["requestheader-client-ca-file"] ?? "";
  return {
    clients: clientBundle === "" ? [] : parseBundle(clientBundle),
    proxies:
      proxyBundle === ""
        ? undefined
        : {
            authorities: parseBundle(proxyBundle),
            allowedNames: names(data, "requestheader-allowed-names"),
            usernameHeaders: headers(data, "requestheader-username-headers"),
            uidHeaders: headers(data, "requestheader-uid-headers"),
            groupHeaders: headers(data, "requestheader-group-headers"),
            extraPrefixes: headers(data, "requestheader-extra-headers-prefix"),
          },
  };
}

function headers(data: Readonly<Record<string, string>>, key: string): readonly string[] {
  return names(data, key).map((name) => name.toLowerCase());
}

function names(data: Readonly<Record<string, string>>, key: string): readonly string[] {
  const text = data[key] ?? "";
  if (text === "") return [];
  const list: unknown = JSON.parse(text);
  if (Array.isArray(list) && list.every((name) => typeof name === "string")) return list;
  throw new Error(`${key}: want a list of texts, got ${isRecord(list) ? "an object" : typeof list}`);
}

export interface TrustSourceDependencies {
  /** For the ConfigMap; undefined: it is not looked up (--authentication-skip-lookup). */
  readonly client: KubeClient | undefined;
  /** Bundle of authorities of users (--client-ca-file); "": what the ConfigMap says. */
  readonly clientCaFile: string;
  /** Bundle of authorities of proxies (--requestheader-client-ca-file); "": what the ConfigMap says. */
  readonly proxyCaFile: string;
  /** How proxies of `proxyCaFile` speak. */
  readonly proxyHeaders: Omit<ProxyTrust, "authorities">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Where the API server writes whom it trusts (apiserver/pkg/server/options/authentication.go v0.36.3). */
const CONFIG_MAP = { namespace: "kube-system", name: "extension-apiserver-authentication" };

/** client-go re-reads files as often (apiserver/pkg/server/dynamiccertificates v0.36.3); an authority is rotated within days. */
const REREAD_MS = 60_000;

const TIMEOUT_MS = 10_000;

/** Whom to trust, kept up to date from files and from the API server's own settings. */
export class TrustSource {
  readonly #deps: TrustSourceDependencies;
  readonly #listeners = new Set<() => void>();
  #current: ClientTrust = NO_TRUST;
  #problem: string | undefined = "not read yet";
  #isRead = false;

  constructor(dependencies: TrustSourceDependencies) {
    this.#deps = dependencies;
  }

  get current(): ClientTrust {
    return this.#current;
  }

  /** Why the last reading failed; what was read before still holds. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Calls back after each change; answers how to end that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** For the start, which a file that is no use must not survive unseen. Rejects with {@link PemFileError}, its flag in the message. */
  async checkFiles(): Promise<void> {
    await Promise.all([this.#clientBundle(), this.#proxyBundle()]);
  }

  /** Reads once. Failures are logged when they are new. */
  async read(signal: AbortSignal): Promise<void> {
    try {
      const trust = await this.#load(signal);
      this.#problem = undefined;
      this.#isRead = true;
      if (deepEqual(fingerprints(trust), fingerprints(this.#current))) return;
      this.#current = trust;
      for (const listener of this.#listeners) listener();
    } catch (error) {
      if (signal.aborted) return;
      const problem = messageOf(error);
      if (problem !== this.#problem)
        this.#deps.log.warn("Cannot read whose client certificates to trust", {
          problem,
          trusted: this.#isRead ? "as before" : "none yet",
        });
      this.#problem = problem;
    }
  }

  /** Reads again and again until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.read(signal);
      await sleep(REREAD_MS, signal, this.#deps.clock).catch(() => undefined);
    }
  }

  async #load(signal: AbortSignal): Promise<ClientTrust> {
    const { client, clientCaFile, proxyCaFile, proxyHeaders } = this.#deps;
    const [clients, authorities] = await Promise.all([this.#clientBundle(), this.#proxyBundle()]);
    const needsLookup = client !== undefined && (clientCaFile === "" || proxyCaFile === "");
    const looked = needsLookup ? await lookUp(client, signal) : NO_TRUST;
    return {
      clients: clients ?? looked.clients,
      proxies: authorities === undefined ? looked.proxies : { ...proxyHeaders, authorities },
    };
  }

  #clientBundle(): Promise<ClientTrust["clients"] | undefined> {
    return readBundle("--client-ca-file", this.#deps.clientCaFile);
  }

  #proxyBundle(): Promise<ClientTrust["clients"] | undefined> {
    return readBundle("--requestheader-client-ca-file", this.#deps.proxyCaFile);
  }
}

async function lookUp(client: KubeClient, signal: AbortSignal): Promise<ClientTrust> {
  const { data } = await client.get(CONFIG_MAPS, CONFIG_MAP, { signal, timeoutMs: TIMEOUT_MS });
  try {
    return trustFromConfigMap(data);
  } catch (error) {
    throw new Error(`ConfigMap ${CONFIG_MAP.namespace}/${CONFIG_MAP.name}: ${messageOf(error)}`, { cause: error });
  }
}

/** undefined: the flag names no file. */
async function readBundle(flag: string, path: string): Promise<ClientTrust["clients"] | undefined> {
  if (path === "") return undefined;
  try {
    return parseBundle(await readFile(path, "utf8"));
  } catch (error) {
    throw new PemFileError(`${flag}: no authorities can be read from ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** What two readings are compared by: certificate objects are never equal. */
function fingerprints({ clients, proxies }: ClientTrust): unknown {
  const of = (authorities: ClientTrust["clients"]) => authorities.map(({ fingerprint256 }) => fingerprint256);
  return { clients: of(clients), proxies: proxies && { ...proxies, authorities: of(proxies.authorities) } };
}
