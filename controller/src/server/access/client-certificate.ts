import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";

/** Longest chain that is followed; longer ones are nobody's. */
const MAX_CHAIN = 8;

/**
 * The certificate a client has shown and proved to hold the key of, if TLS found it to be of one of the known authorities. A connection
 * may outlive it.
 */
export function verifiedCertificate(socket: TLSSocket, nowMs: number): X509Certificate | undefined {
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  if (certificate === undefined) return undefined;
  const isValid = certificate.validFromDate.getTime() <= nowMs && nowMs <= certificate.validToDate.getTime();
  return isValid ? certificate : undefined;
}

/**
 * True when the chain that came with the certificate ends at one of `authorities`. TLS has verified validity, purpose and constraints
 * against all known authorities together; this tells which of them vouches.
 */
export function isIssuedBy(certificate: X509Certificate, authorities: readonly X509Certificate[]): boolean {
  let current: X509Certificate | undefined = certificate;
  for (let length = 0; current !== undefined && length < MAX_CHAIN; length++) {
    const issued: X509Certificate = current;
    if (authorities.some((authority) => signs(authority, issued))) return true;
    const next: X509Certificate | undefined = issued.issuerCertificate;
    current = next !== undefined && signs(next, issued) ? next : undefined;
  }
  return false;
}

function signs(authority: X509Certificate, certificate: X509Certificate): boolean {
  return authority.ca && certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

export interface Subject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** Kubernetes reads a user's name from CN and the groups from each O. */
export function subjectOf(certificate: X509Certificate): Subject {
  const { CN, O } = parts(certificate);
  return { commonName: CN.at(-1) ?? "", organizations: O };
}

/**
 * From the legacy object and not from the text `subject`, in which a value may hold whatever looks like another attribute.
 */
function parts(certificate: X509Certificate): { readonly CN: readonly string[]; readonly O: readonly string[] } {
  const { subject } = certificate.toLegacyObject();
  return { CN: values(subject, "CN"), O: values(subject, "O") };
}

/** Node's types say one text; an attribute that is there several times is a list. */
function values(subject: unknown, key: string): readonly string[] {
  if (typeof subject !== "object" || subject === null) return [];
  const value: unknown = Reflect.get(subject, key);
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((item) => typeof item === "string");
}
