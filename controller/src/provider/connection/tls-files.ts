import { createSecureContext } from "node:tls";
import type { ProviderTls } from "../provider-tls-flag.ts";
import { messageOf } from "../../util/errors.ts";
import { PemFileError, readAuthorities, readPemPair, requireUnexpired } from "../../util/pem-pair.ts";

/** What the TLS files of one provider hold, PEM. */
export interface TlsMaterial {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  /** When our certificate ends. */
  readonly expiresAtMs: number;
}

/** Reads them all; rejects with {@link PemFileError} when they do not fit together, or our certificate has ended. */
export async function readTlsFiles({ caFile, certFile, keyFile }: ProviderTls, nowMs: number): Promise<TlsMaterial> {
  const [ca, { certificate, key, leaf }] = await Promise.all([readAuthorities(caFile), readPemPair(certFile, keyFile)]);
  requireUnexpired(certFile, leaf, nowMs);
  try {
    createSecureContext({ ca });
  } catch (error) {
    throw new PemFileError(`${caFile} is of no use for TLS: ${messageOf(error)}`, { cause: error });
  }
  return { ca, cert: certificate, key, expiresAtMs: leaf.validToDate.getTime() };
}

/** True when both came from files with the same content. */
export function isSameMaterial(left: TlsMaterial, right: TlsMaterial | undefined): boolean {
  return left.ca === right?.ca && left.cert === right.cert && left.key === right.key;
}
