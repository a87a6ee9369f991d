import { readFile } from "node:fs/promises";
import { ServerCredentials } from "@grpc/grpc-js";
import { type Endpoint, isLoopback } from "./endpoint.ts";
import { ProviderStartError } from "./start-error.ts";

/** Files of a TCP endpoint: the provider's certificate and key, and the authority whose clients may call. */
export interface TlsFiles {
  /** PEM, leaf first. */
  readonly certFile: string;
  /** PEM. */
  readonly keyFile: string;
  /** PEM of the authorities that sign clients; a caller without certificate of theirs is refused. */
  readonly clientCaFile: string;
}

/** How callers prove who they are. */
export interface TransportSecurity {
  readonly tls?: TlsFiles | undefined;
  /** True: plaintext on a loopback TCP address, for development. */
  readonly insecureLoopback?: boolean | undefined;
}

/** Credentials for an endpoint; throws for TCP that anybody could call. */
export const serverCredentials = async (
  endpoint: Endpoint,
  security: TransportSecurity,
): Promise<ServerCredentials> => {
  // On a Unix socket the folder and the mode say who may connect.
  if (endpoint.kind === "unix") return ServerCredentials.createInsecure();
  if (security.tls) return mutualTls(security.tls);
  if (security.insecureLoopback && isLoopback(endpoint.host)) return ServerCredentials.createInsecure();
  const named = `tcp://${endpoint.host}:${endpoint.port}`;
  throw new ProviderStartError("CONFIG_INVALID", [
    security.insecureLoopback
      ? `${named} is not a loopback address: plaintext is served on loopback only`
      : `${named} needs TLS with client certificates: set CLOUD_PROVIDER_TLS_CERT_FILE, CLOUD_PROVIDER_TLS_KEY_FILE and CLOUD_PROVIDER_TLS_CLIENT_CA_FILE, or use a Unix socket`,
  ]);
};

const mutualTls = async (files: TlsFiles): Promise<ServerCredentials> => {
  const read = await Promise.all([files.clientCaFile, files.certFile, files.keyFile].map(readPem));
  const problems = read.filter((result) => typeof result === "string");
  const [clientCa, certificate, key] = read.filter((result) => typeof result !== "string");
  if (!clientCa || !certificate || !key) throw new ProviderStartError("CONFIG_INVALID", problems);
  try {
    return ServerCredentials.createSsl(clientCa, [{ cert_chain: certificate, private_key: key }], true);
  } catch (error) {
    throw new ProviderStartError("CONFIG_INVALID", ["the TLS files do not hold a certificate and its key"], error);
  }
};

/** The bytes, or what is wrong with the file. */
const readPem = async (path: string): Promise<Buffer | string> => {
  try {
    const bytes = await readFile(path);
    return bytes.includes("-----BEGIN ") ? bytes : `${path} is not a PEM file`;
  } catch {
    return `${path} cannot be read`;
  }
};
