import { timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { PATHS } from "@cloudwire/operator-api";

/** As much of a request of a browser as decides what becomes of it. */
export interface PageRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export interface PageAccess {
  /** That the server listens on. */
  readonly port: number;
  /** Grants read access. */
  readonly secret: string;
}

export type AuthorizationResult =
  | { readonly kind: "refuse"; readonly status: number; readonly message: string }
  /** It has brought the secret and gets a cookie for it. */
  | { readonly kind: "letIn" }
  | { readonly kind: "toPage" }
  | { readonly kind: "forward"; readonly path: string };

/** What becomes of a request. */
export function authorize({ method, url, headers }: PageRequest, { port, secret }: PageAccess): AuthorizationResult {
  if (!isOwnHost(headers.host, port)) return refuse(421, "this address is 127.0.0.1 and nothing else");
  if (method !== "GET" && method !== "HEAD") return refuse(405, "pages are only read here");
  const asked = URL.parse(url, "http://loopback");
  if (asked === null) return refuse(400, "this is no address of a page");
  const { pathname, search, searchParams } = asked;
  if (pathname === "/" && isSecret(searchParams.get("secret") ?? "", secret)) return { kind: "letIn" };
  if (!isSecret(cookieOf(headers.cookie, cookieName(port)), secret))
    return refuse(403, "open the URL that cloudwire status-page printed");
  if (pathname === "/") return { kind: "toPage" };
  if (!isAllowed(pathname)) return refuse(404, "no page of the status page");
  return { kind: "forward", path: `${pathname}${search}` };
}

/** Cookies are shared by all ports of a host: each has a name of its own. */
export function cookieName(port: number): string {
  return `cloudwire-${port}`;
}

function refuse(status: number, message: string): AuthorizationResult {
  return { kind: "refuse", status, message };
}

function cookieOf(header: string | undefined, name: string): string {
  const pairs = (header ?? "").split(/;\s*/).map((pair) => pair.split("="));
  return pairs.find(([key]) => key === name)?.[1] ?? "";
}

function isSecret(given: string, secret: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(secret)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Pages with more below them. */
const DIRECTORIES: readonly string[] = [PATHS.page, PATHS.controllers];

/** Whether the browser may have a path: what the status page is made of, and nothing else of the controller, whose heap can be read, too. */
function isAllowed(path: string): boolean {
  // The controller may interpret an unusual spelling differently.
  if (!/^[\w./-]+$/.test(path) || path.split("/").includes("..")) return false;
  return (
    Object.values<string>(PATHS).includes(path) || DIRECTORIES.some((directory) => path.startsWith(`${directory}/`))
  );
}

/** Whether the browser was sent to this address by name: another name that leads here is another site's (DNS rebinding). */
function isOwnHost(host: string | undefined, port: number): boolean {
  return host === `127.0.0.1:${port}` || host === `localhost:${port}`;
}
