import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { Authority } from "./authority.ts";
import { type Endpoint, formatEndpoint, parseEndpoint } from "./endpoint.ts";
import type { TlsFiles } from "./tls.ts";

/** How a provider is served that the kit starts. */
export const transports = ["unix", "tls"] as const;
export type Transport = (typeof transports)[number];

/** Where a provider has to listen, and how the kit reaches it there. */
export interface Place {
  readonly endpoint: Endpoint;
  /** The kit's own files of TLS. */
  readonly tls?: TlsFiles;
  /** The environment of the provider's process: variables of the contract and of the SDKs. */
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

/** A port of loopback, with an authority of its own whose certificates are files in the directory. */
export const tlsPlace = async (directory: string): Promise<TlsPlace> => {
  const authority = new Authority("conformance authority");
  const put = async (name: string, text: string): Promise<string> => {
    await writeFile(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };
  let generation = 0;
  const renew = async (): Promise<void> => {
    // As kubelet does it: certificate and key change at once, by a link to the directory of both.
    const fresh = `served-${++generation}`;
    await mkdir(join(directory, fresh));
    const { cert, key } = authority.issue({ commonName: "conformance provider", use: "server", hosts });
    await put(join(fresh, "tls.crt"), cert);
    await put(join(fresh, "tls.key"), key);
    await symlink(fresh, join(directory, "served.new"));
    await rename(join(directory, "served.new"), join(directory, "served"));
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
      CLOUD_PROVIDER_TLS_CERT_FILE: join(directory, "served", "tls.crt"),
      CLOUD_PROVIDER_TLS_KEY_FILE: join(directory, "served", "tls.key"),
      CLOUD_PROVIDER_TLS_CLIENT_CA_FILE: join(directory, "ca.crt"),
    },
    renew,
  };
};

/** A port that no process listens on at this moment. */
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
