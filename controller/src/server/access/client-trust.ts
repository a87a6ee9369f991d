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

/** CAs of client certificates. */
export interface ClientTrust {
  /** Issuers of users' certificates. */
  readonly clients: readonly X509Certificate[];
  /** Issuers of proxies' certificates; a proxy names the user in headers. */
  readonly proxies: ProxyTrust | undefined;
}

/** The API server as a front proxy: `kubectl get --raw` through an aggregated API. */
export interface ProxyTrust {
  readonly authorities: readonly X509Certificate[];
  /** Common names of trusted proxies; empty: all. */
  readonly allowedNames: readonly string[];
  /** Lower case. The first one that is present counts. */
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  /** The values of all of them count. */
  readonly groupHeaders: readonly string[];
  /** Headers with these prefixes are further attributes of the user. */
  readonly extraPrefixes: readonly string[];
}

const NO_TRUST: ClientTrust = { clients: [], proxies: undefined };

/** All CAs that may issue client certificates. */
export function authoritiesOf({ clients, proxies }: ClientTrust): readonly X509Certificate[] {
  return [...clients, ...(proxies?.authorities ?? [])];
}

/** The certificates of a PEM bundle. Throws with the number of an invalid one. */
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
 * From the ConfigMap kube-system/extension-apiserver-authentication, in which the API server publishes its CAs. Lists are JSON
 * (apiserver/pkg/server/options/authentication_dynamic_request_header.go v0.36.3).
 */
export function trustFromConfigMap(data: Readonly<Record<string, string>>): ClientTrust {
  const clientBundle = data["client-ca-file"] ?? "";
  const proxyBundle = data["requestheader-client-ca-file"] ?? "";
  const headers = (key: string): readonly string[] => listOf(data, key).map((name) => name.toLowerCase());
  const proxies = (): ProxyTrust => ({
    authorities: parseBundle(proxyBundle),
    allowedNames: listOf(data, "requestheader-allowed-names"),
    usernameHeaders: headers("requestheader-username-headers"),
    uidHeaders: headers("requestheader-uid-headers"),
    groupHeaders: headers("requestheader-group-headers"),
    extraPrefixes: headers("requestheader-extra-headers-prefix"),
  });
  return {
    clients: clientBundle === "" ? [] : parseBundle(clientBundle),
    proxies: proxyBundle === "" ? undefined : proxies(),
  };
}

function listOf(data: Readonly<Record<string, string>>, key: string): readonly string[] {
  const text = data[key] ?? "";
  if (text === "") return [];
  const list: unknown = JSON.parse(text);
  if (Array.isArray(list) && list.every((name) => typeof name === "string")) return list;
  throw new Error(`${key}: want a list of texts, got ${isRecord(list) ? "an object" : typeof list}`);
}

export interface TrustSourceDependencies {
  /** Reads the ConfigMap; undefined: --authentication-skip-lookup. */
  readonly client: KubeClient | undefined;
  /** --client-ca-file; "": from the ConfigMap. */
  readonly clientCaFile: string;
  /** --requestheader-client-ca-file; "": from the ConfigMap. */
  readonly proxyCaFile: string;
  /** The other request header flags, for proxies of `proxyCaFile`. */
  readonly proxyHeaders: Omit<ProxyTrust, "authorities">;
  readonly clock: Clock;
  readonly log: Logger;
}

/** apiserver/pkg/server/options/authentication.go v0.36.3. */
const CONFIG_MAP = { namespace: "kube-system", name: "extension-apiserver-authentication" };

/** As apiserver/pkg/server/dynamiccertificates v0.36.3. */
const REREAD_MS = 60_000;

const TIMEOUT_MS = 10_000;

/** The CAs of client certificates, kept up to date from files and the ConfigMap. */
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

  /** Why the last read failed; the CAs read before stay in force. */
  get problem(): string | undefined {
    return this.#problem;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** For the start: rejects with {@link PemFileError}, which names the flag, when a file cannot be used. */
  async checkFiles(): Promise<void> {
    await this.#bundles();
  }

  /** Reads once. Logs a failure that differs from the last one. */
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
        this.#deps.log.warn("Could not read the CAs of client certificates", {
          detail: problem,
          trusted: this.#isRead ? "the previous CAs" : "none yet",
        });
      this.#problem = problem;
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.read(signal);
      await sleep(REREAD_MS, signal, this.#deps.clock).catch(() => undefined);
    }
  }

  async #load(signal: AbortSignal): Promise<ClientTrust> {
    const { client, clientCaFile, proxyCaFile, proxyHeaders } = this.#deps;
    const [clients, authorities] = await this.#bundles();
    const needsLookup = client !== undefined && (clientCaFile === "" || proxyCaFile === "");
    const looked = needsLookup ? await lookUp(client, signal) : NO_TRUST;
    return {
      clients: clients ?? looked.clients,
      proxies: authorities === undefined ? looked.proxies : { ...proxyHeaders, authorities },
    };
  }

  #bundles() {
    const { clientCaFile, proxyCaFile } = this.#deps;
    return Promise.all([
      readBundle("--client-ca-file", clientCaFile),
      readBundle("--requestheader-client-ca-file", proxyCaFile),
    ]);
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

async function readBundle(flag: string, path: string): Promise<ClientTrust["clients"] | undefined> {
  if (path === "") return undefined;
  try {
    return parseBundle(await readFile(path, "utf8"));
  } catch (error) {
    throw new PemFileError(`${flag}: cannot read CA certificates from ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** Comparable: certificate objects are never equal. */
function fingerprints({ clients, proxies }: ClientTrust): unknown {
  const of = (authorities: ClientTrust["clients"]) => authorities.map(({ fingerprint256 }) => fingerprint256);
  return { clients: of(clients), proxies: proxies && { ...proxies, authorities: of(proxies.authorities) } };
}
