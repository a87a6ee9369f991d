import { X509Certificate } from "node:crypto";
import { isRecord } from "../../util/json.ts";
import { messageOf } from "../../util/errors.ts";

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

export const NO_TRUST: ClientTrust = { clients: [], proxies: undefined };

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
