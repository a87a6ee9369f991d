import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";

/** Files of a TCP endpoint: the provider's certificate and key, and the authority whose clients may call. */
export interface TlsFiles {
  /** PEM, leaf first. */
  readonly certFile: string;
  /** PEM. */
  readonly keyFile: string;
  /** PEM of the authorities that sign clients; a caller without certificate of theirs is refused. */
  readonly clientCaFile: string;
}

/** What the files hold. */
export interface TlsMaterial {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly clientCa: Buffer;
  /** When the provider's certificate ends. */
  readonly expiresAt: Date;
}

/** The contents, or every problem with the files. */
export type TlsReading =
  | { readonly kind: "material"; readonly material: TlsMaterial }
  | { readonly kind: "problems"; readonly problems: readonly string[] };

/** Reads the files and checks that they match, which they do not while a writer replaces one after the other. */
export const readTlsFiles = async (files: TlsFiles): Promise<TlsReading> => {
  const { certFile, keyFile, clientCaFile } = files;
  const read = await Promise.all([certFile, keyFile, clientCaFile].map(readPem));
  const [cert, key, clientCa] = read.filter((result) => typeof result !== "string");
  if (!cert || !key || !clientCa) return problems(read.filter((result) => typeof result === "string"));
  const leaf = attempt(() => new X509Certificate(cert));
  const secret = attempt(() => createPrivateKey(key));
  const authority = attempt(() => new X509Certificate(clientCa));
  if (!leaf || !secret || !authority) {
    return problems([
      ...(leaf ? [] : [`${certFile} holds no certificate`]),
      ...(secret ? [] : [`${keyFile} holds no private key`]),
      ...(authority ? [] : [`${clientCaFile} holds no certificate`]),
    ]);
  }
  if (!leaf.checkPrivateKey(secret))
    return problems([`${keyFile} is not the key of the first certificate in ${certFile}`]);
  const context = attempt(() => createSecureContext({ cert, key, ca: clientCa }));
  if (!context) return problems([`${certFile} and ${clientCaFile} are of no use for TLS: a key or digest is too weak`]);
  return { kind: "material", material: { cert, key, clientCa, expiresAt: leaf.validToDate } };
};

/** True when both came from files with the same contents. */
export const isSameMaterial = (left: TlsMaterial, right: TlsMaterial): boolean =>
  left.cert.equals(right.cert) && left.key.equals(right.key) && left.clientCa.equals(right.clientCa);

const problems = (texts: readonly string[]): TlsReading => ({ kind: "problems", problems: texts });

/** The bytes, or the problem with the file. */
const readPem = async (path: string): Promise<Buffer | string> => {
  try {
    const bytes = await readFile(path);
    return bytes.includes("-----BEGIN ") ? bytes : `${path} is not a PEM file`;
  } catch {
    return `${path} cannot be read`;
  }
};

const attempt = <Result>(make: () => Result): Result | undefined => {
  try {
    return make();
  } catch {
    return undefined;
  }
};
