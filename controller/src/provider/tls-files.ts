import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { ProviderTls } from "../options/provider-tls-flag.ts";
import { messageOf } from "../util/errors.ts";

/** What the TLS files of one provider hold, PEM. */
export interface TlsMaterial {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
  /** When our certificate ends. */
  readonly expiresAtMs: number;
}

/** The TLS files of a provider cannot be used as they are. */
class TlsFilesError extends Error {
  readonly code = "TLS_FILES";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "TlsFilesError";
  }
}

/**
 * Reads them all; rejects with {@link TlsFilesError} when they do not fit together, as happens for a moment while somebody writes
 * one after the other.
 */
export async function readTlsFiles({ caFile, certFile, keyFile }: ProviderTls, nowMs: number): Promise<TlsMaterial> {
  const [ca, cert, key] = await Promise.all([read(caFile), read(certFile), read(keyFile)]);
  parse(caFile, "certificate", () => new X509Certificate(ca));
  const leaf = parse(certFile, "certificate", () => new X509Certificate(cert));
  const secret = parse(keyFile, "private key", () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(secret)) {
    throw new TlsFilesError(`${keyFile} is not the private key of the first certificate in ${certFile}`);
  }
  const expiresAtMs = leaf.validToDate.getTime();
  if (expiresAtMs <= nowMs) {
    throw new TlsFilesError(`the certificate in ${certFile} expired at ${leaf.validToDate.toISOString()}; renew it`);
  }
  return { ca, cert, key, expiresAtMs };
}

/** True when both came from files with the same content. */
export function isSameMaterial(left: TlsMaterial | undefined, right: TlsMaterial | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return left.ca.equals(right.ca) && left.cert.equals(right.cert) && left.key.equals(right.key);
}

async function read(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new TlsFilesError(`cannot read a TLS file: ${messageOf(error)}`, { cause: error });
  }
}

function parse<T>(path: string, what: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new TlsFilesError(`${path} holds no ${what} in PEM: ${messageOf(error)}`, { cause: error });
  }
}
