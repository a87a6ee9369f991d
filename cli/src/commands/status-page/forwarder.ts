import { randomBytes } from "node:crypto";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { pipeline } from "node:stream/promises";
import { PATHS } from "@cloudwire/operator-api";
import type { Connection } from "../../client/connection.ts";
import { messageOf } from "../../errors.ts";
import { cookieName, type PageAccess, authorize } from "./request-authorization.ts";

export interface ForwarderDependencies {
  readonly connect: () => Promise<Connection>;
  /** After this, `connect` reconnects. */
  readonly forget: () => Promise<void>;
  /** 0: any free port. */
  readonly port: number;
  readonly onError: (message: string) => void;
}

export interface Forwarder {
  /** Grants access to anyone with the URL. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Other headers carry identities and origins. */
const PASSED_ON = ["accept", "accept-language", "if-none-match", "last-event-id", "cache-control"];
/** Of a response. */
const PASSED_BACK = [
  "content-type",
  "content-length",
  "content-security-policy",
  "cache-control",
  "etag",
  "x-content-type-options",
  "referrer-policy",
  "cross-origin-opener-policy",
  "cross-origin-resource-policy",
];

/**
 * Serves the controller's pages on loopback with the user's credentials, and only to clients that have the secret in its URL. The secret is
 * exchanged for a cookie immediately, so that it stays in no browser history.
 */
export async function startForwarder(dependencies: ForwarderDependencies): Promise<Forwarder> {
  const { port: wanted, onError } = dependencies;
  const secret = randomBytes(24).toString("base64url");
  const server = createServer();
  const port = await listening(server, wanted);
  server.on("request", (request, response) => {
    handle(request, response, { port, secret }, dependencies).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else say(response, 502, messageOf(error));
      // A closed browser tab is not an error.
      if (!request.destroyed) onError(messageOf(error));
    });
  });
  return {
    url: `http://127.0.0.1:${port}/?secret=${secret}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listening(server: Server, wanted: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(wanted, "127.0.0.1", resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port");
  return address.port;
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  access: PageAccess,
  dependencies: ForwarderDependencies,
): Promise<void> {
  const { method = "", headers, url = "/" } = request;
  const result = authorize({ method, headers, url }, access);
  switch (result.kind) {
    case "refuse":
      say(response, result.status, result.message);
      return;
    case "letIn":
      response.setHeader(
        "set-cookie",
        `${cookieName(access.port)}=${access.secret}; HttpOnly; SameSite=Strict; Path=/`,
      );
      toPage(response);
      return;
    case "toPage":
      toPage(response);
      return;
    case "forward":
      await forward(request, response, dependencies, result.path);
      return;
    default:
      result satisfies never;
  }
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { connect, forget }: ForwarderDependencies,
  path: string,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const headers = only(PASSED_ON, request.headers);
  const ask = async (): Promise<IncomingMessage> => (await connect()).get(path, { headers, signal: gone.signal });
  let incoming = await ask();
  // Tokens expire while the page is open: a reconnect reads the credentials again.
  if (incoming.statusCode === 401) {
    incoming.destroy();
    await forget();
    incoming = await ask();
  }
  response.writeHead(incoming.statusCode ?? 502, only(PASSED_BACK, incoming.headers));
  if (request.method === "HEAD") {
    incoming.destroy();
    response.end();
    return;
  }
  // Reports the connection to the browser before the first event.
  response.flushHeaders();
  await pipeline(incoming, response);
}

function only(names: readonly string[], headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (typeof value === "string") found[name] = value;
  }
  return found;
}

function toPage(response: ServerResponse): void {
  response.writeHead(303, {
    location: `${PATHS.page}/`,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
  });
  response.end();
}

function say(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
  response.end(`${message}\n`);
}
