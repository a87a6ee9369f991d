import { ServerCredentials } from "@grpc/grpc-js";
import { type Endpoint, isLoopback } from "./endpoint.ts";
import { MutualTls } from "./mutual-tls.ts";
import { ProviderStartError } from "../start-error.ts";
import { readTlsFiles, type TlsFiles } from "./tls-files.ts";

/** How callers prove who they are. */
export interface TransportSecurity {
  /** Files of the certificate, its key and the authorities of callers. Needed on TCP. */
  readonly tls?: TlsFiles | undefined;
  /** True: plaintext on a loopback TCP address, for development. */
  readonly insecureLoopback?: boolean | undefined;
}

/** Credentials for an endpoint; throws for TCP without authentication. */
export const serverCredentials = async (
  endpoint: Endpoint,
  security: TransportSecurity,
): Promise<ServerCredentials> => {
  // On a Unix socket the directory and the mode say who may connect.
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

const mutualTls = async (files: TlsFiles): Promise<MutualTls> => {
  const read = await readTlsFiles(files);
  if (read.kind === "problems") throw new ProviderStartError("CONFIG_INVALID", read.problems);
  return new MutualTls(files, read.material);
};
