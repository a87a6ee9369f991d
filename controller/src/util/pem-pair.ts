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

/** A PEM file cannot be used; the message is one line that names it and the reason. */
export class PemFileError extends Error {
  readonly code = "PEM_FILE";
  override readonly name = "PemFileError";
}

/** Rejects with {@link PemFileError} when certificate and key do not match, as while the files are replaced, or OpenSSL refuses them. */
export async function readPemPair(certFile: string, keyFile: string): Promise<PemPair> {
  const [certificate, key] = await Promise.all([read(certFile, "certificate"), read(keyFile, "private key")]);
  const leaf = parse(certFile, "certificate", () => new X509Certificate(certificate));
  const secret = parse(keyFile, "private key", () => createPrivateKey(key));
  if (!leaf.checkPrivateKey(secret))
    throw new PemFileError(`${keyFile} is not the private key of the first certificate in ${certFile}`);
  try {
    createSecureContext({ cert: certificate, key });
  } catch (error) {
    throw new PemFileError(`the certificate in ${certFile} cannot be used for TLS: ${messageOf(error)}`, {
      cause: error,
    });
  }
  return { certificate, key, leaf };
}

/** Throws {@link PemFileError} when the certificate has expired. */
export function requireUnexpired(certFile: string, leaf: X509Certificate, nowMs: number): void {
  if (leaf.validToDate.getTime() > nowMs) return;
  throw new PemFileError(`the certificate in ${certFile} expired at ${leaf.validToDate.toISOString()}; renew it`);
}

/** Certificate and key match and have not expired; also true when one of them is missing. */
export function isPair(
  { cert, key, passphrase }: { cert?: string | Buffer; key?: string | Buffer; passphrase?: string },
  nowMs: number,
): boolean {
  if (cert === undefined || key === undefined) return true;
  try {
    const secret = createPrivateKey({ key, ...(passphrase === undefined ? {} : { passphrase }) });
    const leaf = new X509Certificate(cert);
    return leaf.checkPrivateKey(secret) && leaf.validToDate.getTime() > nowMs;
  } catch {
    return false;
  }
}

/** A bundle of CA certificates, PEM. Rejects with {@link PemFileError}. */
export async function readAuthorities(file: string): Promise<string> {
  const text = await read(file, "CA certificates");
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
