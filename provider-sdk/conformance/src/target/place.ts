import { rename, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { Authority } from "../pki/authority.ts";
import { type Endpoint, formatEndpoint, parseEndpoint } from "../wire/endpoint.ts";
import type { TlsFiles } from "../wire/tls.ts";

/** How a provider is served that the kit starts. */
export const transports = ["unix", "tls"] as const;
export type Transport = (typeof transports)[number];

/** Where a provider is told to listen, and how the kit reaches it there. */
export interface Place {
  readonly endpoint: Endpoint;
  /** The kit's own files of TLS. */
  readonly tls?: TlsFiles;
  /** What the provider's process is told, by environment variables of the contract and of the SDKs. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A place over TCP whose certificate can be replaced while it is served. */
export interface TlsPlace extends Place {
  readonly tls: TlsFiles;
  /** Puts another certificate and key of the same authority in the place of those that the provider was given. */
  readonly renew: () => Promise<void>;
}

const loopback = "127.0.0.1";
const hosts = ["localhost", loopback];

/** A socket. */
export const unixPlace = (path: string): Place => {
  const endpoint: Endpoint = { kind: "unix", path };
  return { endpoint, environment: { CLOUD_PROVIDER_ENDPOINT: formatEndpoint(endpoint) } };
};

/** A port of loopback, with an authority of its own whose certificates are files in the folder. */
export const tlsPlace = async (folder: string): Promise<TlsPlace> => {
  const authority = new Authority("conformance authority");
  const at = (name: string): string => join(folder, name);
  const put = async (name: string, text: string): Promise<string> => {
    // Never half of a file: the provider may read it at any time.
    await writeFile(at(`${name}.new`), text, { mode: 0o600 });
    await rename(at(`${name}.new`), at(name));
    return at(name);
  };
  const renew = async (): Promise<void> => {
    const { cert, key } = authority.issue({ commonName: "conformance provider", use: "server", hosts });
    await put("server.crt", cert);
    await put("server.key", key);
  };
  await renew();
  const client = authority.issue({ commonName: "conformance kit", use: "client" });
  const tls: TlsFiles = {
    ca: await put("ca.crt", authority.cert),
    cert: await put("client.crt", client.cert),
    key: await put("client.key", client.key),
  };
  const endpoint = `tcp://${loopback}:${await freePort()}`;
  return {
    endpoint: parseEndpoint(endpoint, tls),
    tls,
    environment: {
      CLOUD_PROVIDER_ENDPOINT: endpoint,
      CLOUD_PROVIDER_TLS_CERT_FILE: at("server.crt"),
      CLOUD_PROVIDER_TLS_KEY_FILE: at("server.key"),
      CLOUD_PROVIDER_TLS_CLIENT_CA_FILE: at("ca.crt"),
    },
    renew,
  };
};

/** A port that nobody listens on at this moment. */
const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, loopback, () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
