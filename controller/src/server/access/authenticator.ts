import type { X509Certificate } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { messageOf } from "../../util/errors.ts";
import type { ClientTrust, ProxyTrust } from "./client-trust.ts";
import { ANONYMOUS, type Identity, type TokenAuthenticator, type User, authenticated } from "./reviews.ts";

export interface AuthenticatorDependencies {
  readonly trust: () => ClientTrust;
  /** undefined: every token is refused. */
  readonly tokens: TokenAuthenticator | undefined;
  readonly nowMs: () => number;
}

/** In the API server's order: proxy, certificate, token. A request without credentials is anonymous. */
export async function authenticate(deps: AuthenticatorDependencies, request: IncomingMessage): Promise<Identity> {
  const { clients, proxies } = deps.trust();
  const certificate =
    request.socket instanceof TLSSocket ? verifiedCertificate(request.socket, deps.nowMs()) : undefined;
  const named = certificate && (proxied(request, certificate, proxies) ?? certified(certificate, clients));
  if (named !== undefined) return { kind: "user", user: authenticated(named) };
  const token = bearerToken(request.headers.authorization);
  return token === undefined ? { kind: "user", user: ANONYMOUS } : byToken(deps, token);
}

function proxied(
  { headersDistinct }: IncomingMessage,
  certificate: X509Certificate,
  proxies: ProxyTrust | undefined,
): User | undefined {
  if (proxies === undefined || !isIssuedBy(certificate, proxies.authorities)) return undefined;
  const { commonName } = subjectOf(certificate);
  const { allowedNames } = proxies;
  if (allowedNames.length > 0 && !allowedNames.includes(commonName)) return undefined;
  return userFromProxyHeaders(headersDistinct, proxies);
}

function certified(certificate: X509Certificate, authorities: readonly X509Certificate[]): User | undefined {
  if (!isIssuedBy(certificate, authorities)) return undefined;
  const { commonName, organizations } = subjectOf(certificate);
  return commonName === "" ? undefined : { name: commonName, uid: "", groups: organizations, extra: {} };
}

async function byToken({ tokens }: AuthenticatorDependencies, token: string): Promise<Identity> {
  if (tokens === undefined) return { kind: "refused", message: "this server cannot check tokens" };
  try {
    const identity = await tokens(token);
    return identity.kind === "user" ? { kind: "user", user: authenticated(identity.user) } : identity;
  } catch (error) {
    return { kind: "refused", message: `TokenReview failed: ${messageOf(error)}` };
  }
}

/** The token of `Authorization: Bearer …`; the scheme is case-insensitive. */
function bearerToken(header: string | undefined): string | undefined {
  const [scheme = "", token = ""] = (header ?? "").trim().split(/\s+/);
  return scheme.toLowerCase() === "bearer" && token !== "" ? token : undefined;
}

/** Longer chains are not trusted. */
const MAX_CHAIN = 8;

/** The client certificate that TLS verified against all known CAs. Its validity is checked again: a connection may outlive it. */
function verifiedCertificate(socket: TLSSocket, nowMs: number): X509Certificate | undefined {
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  if (certificate === undefined) return undefined;
  const isValid = certificate.validFromDate.getTime() <= nowMs && nowMs <= certificate.validToDate.getTime();
  return isValid ? certificate : undefined;
}

/** The certificate's chain ends at one of `authorities`. TLS has verified it against all known CAs together; this finds which one. */
function isIssuedBy(certificate: X509Certificate, authorities: readonly X509Certificate[]): boolean {
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

/**
 * Kubernetes reads the user's name from CN and the groups from each O. Read from the legacy object: in the text `subject` a value can
 * imitate another attribute.
 */
function subjectOf(certificate: X509Certificate): {
  readonly commonName: string;
  readonly organizations: readonly string[];
} {
  const { subject } = certificate.toLegacyObject();
  return { commonName: values(subject, "CN").at(-1) ?? "", organizations: values(subject, "O") };
}

/** A repeated attribute is an array, which Node's types do not say. */
function values(subject: unknown, key: string): readonly string[] {
  if (typeof subject !== "object" || subject === null) return [];
  const value: unknown = Reflect.get(subject, key);
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.filter((item) => typeof item === "string");
}

/** `headersDistinct` of a request: values are separate, so a comma in one cannot add another. */
export type DistinctHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/** The user that a trusted proxy names. As apiserver/pkg/authentication/request/headerrequest v0.36.3. */
export function userFromProxyHeaders(headers: DistinctHeaders, trust: ProxyTrust): User | undefined {
  const name = first(headers, trust.usernameHeaders);
  if (name === undefined) return undefined;
  return {
    name,
    uid: first(headers, trust.uidHeaders) ?? "",
    groups: trust.groupHeaders.flatMap((header) => all(headers, header)),
    extra: extraOf(headers, trust.extraPrefixes),
  };
}

function extraOf(headers: DistinctHeaders, prefixes: readonly string[]): User["extra"] {
  const extra: Record<string, readonly string[]> = {};
  for (const header of Object.keys(headers)) {
    const prefix = prefixes.find((candidate) => header.startsWith(candidate));
    if (prefix === undefined) continue;
    const key = decode(header.slice(prefix.length));
    extra[key] = [...(extra[key] ?? []), ...all(headers, header)];
  }
  return extra;
}

/** Keys are percent-encoded; an invalid one is used unchanged. */
function decode(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function first(headers: DistinctHeaders, names: readonly string[]): string | undefined {
  return names.flatMap((name) => all(headers, name)).find((value) => value !== "");
}

function all(headers: DistinctHeaders, name: string): readonly string[] {
  return headers[name] ?? [];
}
