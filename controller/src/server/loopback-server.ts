import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { HostPort } from "../options/flag.ts";
import { type RunningServer, sendText } from "./endpoints.ts";

export interface LoopbackServerDependencies {
  /** A loopback address. */
  readonly address: HostPort;
  /** Registers the endpoints. */
  readonly register: (server: FastifyInstance) => void;
}

/** Any port: a forwarded one differs. */
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * Plain HTTP without authentication, read-only, for users of this machine. Web pages in their browsers may attack it: requests with
 * another host name (DNS rebinding) and requests of other pages are rejected.
 */
export async function startLoopbackServer({ address, register }: LoopbackServerDependencies): Promise<RunningServer> {
  const server = fastify({ logger: false, forceCloseConnections: true });
  server.addHook("onRequest", guard);
  register(server);
  const url = await server.listen(address);
  return { url, close: () => server.close() };
}

async function guard({ method, headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  if (method !== "GET" && method !== "HEAD") return sendText(reply.header("allow", "GET, HEAD"), 405, "read-only\n");
  if (!LOOPBACK_HOST.test(headers.host ?? "")) {
    const text = `"${headers.host ?? ""}" is not a loopback name; use localhost or 127.0.0.1\n`;
    return sendText(reply, 421, text);
  }
  if (isOfAnotherPage(headers)) return sendText(reply, 403, "requests of other pages are rejected\n");
  return undefined;
}

/** Fetch Metadata (https://www.w3.org/TR/fetch-metadata/): only links of other pages are allowed. */
function isOfAnotherPage(headers: FastifyRequest["headers"]): boolean {
  const site = headers["sec-fetch-site"];
  const isOwn = site === undefined || site === "same-origin" || site === "none";
  const isLink = headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
  return !isOwn && !isLink;
}
