import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext, type SecureVersion } from "node:tls";
import { UsageError, errorText } from "../errors.ts";

/** Files with which the kit is a client over TLS. */
export interface TlsFiles {
  /** PEM of the authorities that sign the provider's certificate. Default: those that Node knows. */
  readonly ca?: string | undefined;
  /** PEM of the kit's own certificate, which the provider has to accept; it comes with `key`. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The name that the provider's certificate has to be for. Default: the host of the endpoint. */
  readonly serverName?: string | undefined;
}

/** What the files hold. */
export interface TlsClient {
  /** As they were given: for commands that a person repeats. */
  readonly files: TlsFiles;
  readonly ca?: Buffer | undefined;
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
  readonly serverName?: string | undefined;
  /** The only versions that are offered. Default: what Node offers. */
  readonly versions?: { readonly min: SecureVersion; readonly max: SecureVersion } | undefined;
}

/** Reads the files. Throws a UsageError with everything that is wrong with them. */
export const readTlsFiles = (files: TlsFiles): TlsClient => {
  const problems: string[] = [];
  const read = (name: "ca" | "cert" | "key"): Buffer | undefined => {
    const path = files[name];
    if (path === undefined) return undefined;
    try {
      return readFileSync(path);
    } catch (error) {
      problems.push(`tls.${name}: ${errorText(error)}`);
      return undefined;
    }
  };
  const client: TlsClient = {
    files,
    ca: read("ca"),
    cert: read("cert"),
    key: read("key"),
    serverName: files.serverName,
  };
  if ((files.cert === undefined) !== (files.key === undefined))
    problems.push("tls.cert and tls.key come together: a certificate is of no use without its key");
  if (problems.length === 0) problems.push(...materialProblems(client));
  if (problems.length > 0) throw new UsageError(`TLS is not to be had: ${problems.join("; ")}`);
  return client;
};

const materialProblems = ({ ca, cert, key }: TlsClient): readonly string[] => {
  if (ca !== undefined && !holdsCertificate(ca)) return ["tls.ca holds no PEM certificate"];
  try {
    createSecureContext({ ca, cert, key });
    return [];
  } catch (error) {
    return [`tls.cert and tls.key do not work together: ${errorText(error)}`];
  }
};

const holdsCertificate = (pem: Buffer): boolean => {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
};
