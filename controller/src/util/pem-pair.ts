import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { messageOf } from "./errors.ts";

/** A certificate and its private key. */
export interface PemPair {
  /** PEM, leaf first. */
  readonly certificate: string;
  /** PEM. */
  readonly key: string;
  readonly leaf: X509Certificate;
}

/** Certificate and key as they are given to TLS. */
export interface PairTexts {
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** Of a key that is encrypted. */
  readonly passphrase?: string;
}

/** PEM files cannot be used as they are: one line that says which and why. */
export class PemFileError extends Error {
  readonly code = "PEM_FILE";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "PemFileError";
  }
}

/**
 * Rejects with {@link PemFileError} when there is no pair that fits together, as there is none for a moment while somebody writes one
 * file after the other, or none that OpenSSL serves with, its key too short say.
 */
export async function readPemPair(certFile: string, keyFile: string): Promise<PemPair> {
  const [certificate, key] = await Promise.all([read(certFile, "certificate"), read(keyFile, "private key")]);
  const leaf = parse(certFile, "certificate", () => new X509Certificate(certificate));
  const secret = parse(keyFile, "private key", () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(secret))
    throw new PemFileError(`${keyFile} is not the private key of the first certificate in ${certFile}`);
  try {
    createSecureContext({ cert: certificate, key });
  } catch (error) {
    throw new PemFileError(`the certificate in ${certFile} is of no use for TLS: ${messageOf(error)}`, {
      cause: error,
    });
  }
  return { certificate, key, leaf };
}

/** Throws {@link PemFileError} when the certificate of a file has ended. */
export function requireUnexpired(certFile: string, leaf: X509Certificate, nowMs: number): void {
  if (leaf.validToDate.getTime() > nowMs) return;
  throw new PemFileError(`the certificate in ${certFile} expired at ${leaf.validToDate.toISOString()}; renew it`);
}

/**
 * Both are PEM, fit and have not expired; or one of them is not there, which leaves nothing to fit. False, too, when one cannot be read.
 */
export function isPair({ cert, key, passphrase }: PairTexts, nowMs: number): boolean {
  if (cert === undefined || key === undefined) return true;
  try {
    const secret = createPrivateKey({ key, ...(passphrase === undefined ? {} : { passphrase }) });
    const leaf = new X509Certificate(cert);
    return leaf.checkPrivateKey(secret) && leaf.validToDate.getTime() > nowMs;
  } catch {
    return false;
  }
}

/** The text of a file of certificates. Rejects with {@link PemFileError}. */
export async function readAuthorities(file: string): Promise<string> {
  const text = await read(file, "authorities");
  parse(file, "certificate", () => new X509Certificate(text));
  return text;
}

async function read(file: string, what: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new PemFileError(`cannot read the ${what}: ${messageOf(error)}`, { cause: error });
  }
}

function parse<T>(file: string, what: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new PemFileError(`${file} holds no ${what} in PEM: ${messageOf(error)}`, { cause: error });
  }
}
