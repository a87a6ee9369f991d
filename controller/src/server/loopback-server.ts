import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { HostPort } from "../options/flag.ts";
import { type RunningServer, sendText } from "./endpoints.ts";

export interface LoopbackServerDependencies {
  /** Of loopback. */
  readonly address: HostPort;
  /** Puts the pages on. */
  readonly pages: (server: FastifyInstance) => void;
}

/** Names under which a browser reaches loopback, with any port: one that is forwarded is another one here. */
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * Plain HTTP without authentication, for whoever is on this machine, and for reading only. Browsers are on it too, with pages of
 * anybody: a name that somebody else has pointed at loopback is refused, and so is what another page asks for.
 */
export async function startLoopbackServer({ address, pages }: LoopbackServerDependencies): Promise<RunningServer> {
  const server = fastify({ logger: false, forceCloseConnections: true });
  server.addHook("onRequest", guard);
  pages(server);
  const url = await server.listen(address);
  return { url, close: () => server.close() };
}

async function guard({ method, headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  if (method !== "GET" && method !== "HEAD")
    return sendText(reply.header("allow", "GET, HEAD"), 405, "these pages can only be read\n");
  if (!LOOPBACK_HOST.test(headers.host ?? "")) {
    const text = `"${headers.host ?? ""}" is no name of this machine's loopback; ask for localhost or 127.0.0.1\n`;
    return sendText(reply, 421, text);
  }
  if (isOfAnotherPage(headers)) return sendText(reply, 403, "another page may not read these\n");
  return undefined;
}

/** Fetch Metadata (https://www.w3.org/TR/fetch-metadata/): a link may lead here, nothing else of another page may. */
function isOfAnotherPage(headers: FastifyRequest["headers"]): boolean {
  const site = headers["sec-fetch-site"];
  const isOwn = site === undefined || site === "same-origin" || site === "none";
  const isLink = headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
  return !isOwn && !isLink;
}
