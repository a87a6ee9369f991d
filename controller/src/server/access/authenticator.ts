import type { X509Certificate } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { messageOf } from "../../util/errors.ts";
import type { ClientTrust, ProxyTrust } from "./client-trust.ts";
import { ANONYMOUS, type TokenAuthenticator, type User, authenticated } from "./reviews.ts";

/** Who asks; `refused`: something was presented, and it proves nothing. */
export type Identity =
  | { readonly kind: "user"; readonly user: User }
  | { readonly kind: "refused"; readonly why: string };

export interface AuthenticatorDependencies {
  readonly trust: () => ClientTrust;
  /** undefined: nobody can be asked, and no token proves anything. */
  readonly tokens: TokenAuthenticator | undefined;
  readonly nowMs: () => number;
}

/** In the order of the API server: proxy, certificate, token; nothing at all is the anonymous user. */
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
  if (tokens === undefined) return { kind: "refused", why: "this server has nobody to ask about tokens" };
  try {
    const answer = await tokens.authenticate(token);
    return answer.kind === "user" ? { kind: "user", user: authenticated(answer.user) } : answer;
  } catch (error) {
    return { kind: "refused", why: `the API server could not be asked about the token: ${messageOf(error)}` };
  }
}

/** The token of `Authorization: Bearer …`; the scheme's case does not count. */
function bearerToken(header: string | undefined): string | undefined {
  const [scheme = "", token = ""] = (header ?? "").trim().split(/\s+/);
  return scheme.toLowerCase() === "bearer" && token !== "" ? token : undefined;
}

/** Longest chain that is followed; longer ones are nobody's. */
const MAX_CHAIN = 8;

/**
 * The certificate a client has shown and proved to hold the key of, if TLS found it to be of one of the known authorities. A connection
 * may outlive it.
 */
function verifiedCertificate(socket: TLSSocket, nowMs: number): X509Certificate | undefined {
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  if (certificate === undefined) return undefined;
  const isValid = certificate.validFromDate.getTime() <= nowMs && nowMs <= certificate.validToDate.getTime();
  return isValid ? certificate : undefined;
}

/**
 * True when the chain that came with the certificate ends at one of `authorities`. TLS has verified validity, purpose and constraints
 * against all known authorities together; this tells which of them vouches.
 */
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

export interface Subject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** Kubernetes reads a user's name from CN and the groups from each O. */
function subjectOf(certificate: X509Certificate): Subject {
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

/** `headersDistinct` of a request: each value by itself, so that none can smuggle in a second one after a comma. */
export type DistinctHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/**
 * The user a trusted proxy speaks for; undefined when it names none. As apiserver/pkg/authentication/request/headerrequest v0.36.3:
 * first header with a value for name and UID, all values for groups and extra attributes.
 */
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

/** Keys are percent-encoded; one that is not is taken as it stands. */
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
