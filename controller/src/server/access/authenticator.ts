import type { X509Certificate } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { messageOf } from "../../util/errors.ts";
import { isIssuedBy, subjectOf, verifiedCertificate } from "./client-certificate.ts";
import type { ClientTrust, ProxyTrust } from "./client-trust.ts";
import { userFromProxyHeaders } from "./proxy-headers.ts";
import type { TokenAuthenticator } from "./token-authenticator.ts";
import { ANONYMOUS, authenticated, type User } from "./user.ts";

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
