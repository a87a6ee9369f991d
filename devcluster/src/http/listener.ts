import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Reply } from "./reply.ts";
import type { RawRequest } from "./request.ts";

/** A certificate and its key, both PEM. */
export interface TlsIdentity {
  readonly certificate: string;
  readonly key: string;
}

export interface ListenerOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly tls?: TlsIdentity | undefined;
  readonly handle: (request: RawRequest) => Promise<Reply>;
}

export interface Listener {
  readonly port: number;
  /** Ends every connection, watches too. */
  readonly close: () => Promise<void>;
}

/** The real server's limit for a request body is 3 MiB. */
const maxBodyBytes = 3 * 1024 * 1024;
/** A watcher that reads so slowly is cut off: it will list again. */
const maxBacklogBytes = 64 * 1024 * 1024;

/** Serves HTTP, or HTTPS when there is a certificate. Rejects when the address cannot be had. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    void serve(options, request, response);
  };
  const server =
    options.tls === undefined
      ? createServer(onRequest)
      : createSecureServer({ cert: options.tls.certificate, key: options.tls.key }, onRequest);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return { port: portOf(server), close: () => close(server) };
}

async function serve(options: ListenerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const body = await readBody(request);
    const url = new URL(request.url ?? "/", "http://devcluster");
    const { pathname: path, searchParams: query } = url;
    write(
      response,
      await options.handle({ method: request.method ?? "GET", path, query, headers: request.headers, body }),
    );
  } catch (error) {
    fail(response, error);
  }
}

function write(response: ServerResponse, reply: Reply): void {
  switch (reply.kind) {
    case "json":
      warn(response, reply.warnings ?? []);
      send(response, reply.status, `application/json${reply.mediaParameters ?? ""}`, reply.body);
      return;
    case "binary":
      warn(response, reply.warnings);
      send(response, reply.status, reply.contentType, reply.body);
      return;
    case "text":
      send(response, reply.status, "text/plain; charset=utf-8", reply.body);
      return;
    case "stream":
      stream(response, reply);
      return;
    default:
      reply satisfies never;
  }
}

function warn(response: ServerResponse, warnings: readonly string[]): void {
  for (const warning of warnings) response.appendHeader("Warning", `299 - ${JSON.stringify(warning)}`);
}

function send(response: ServerResponse, status: number, type: string, body: string | Uint8Array): void {
  response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-cache, private" });
  response.end(body);
}

function stream(response: ServerResponse, reply: Extract<Reply, { kind: "stream" }>): void {
  response.writeHead(200, { "Content-Type": reply.contentType, "Cache-Control": "no-cache, private" });
  response.flushHeaders();
  reply.start({
    write: (event) => {
      response.write(event);
      if (response.writableLength > maxBacklogBytes) response.destroy();
    },
    end: () => {
      response.end();
    },
    onClose: (callback) => {
      response.once("close", callback);
    },
  });
}

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request) {
    const bytes: Buffer = Buffer.from(chunk);
    sizeBytes += bytes.length;
    if (sizeBytes > maxBodyBytes) throw new BodyTooLargeError();
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

class BodyTooLargeError extends Error {
  readonly code = "BODY_TOO_LARGE";
}

/** Whatever was not foreseen: the client gets the message, the stack goes to anyone who runs devcluster. */
function fail(response: ServerResponse, error: unknown): void {
  const tooLarge = error instanceof BodyTooLargeError;
  const message = tooLarge
    ? `Request entity too large: limit is ${maxBodyBytes}`
    : `Internal error occurred: ${error instanceof Error ? error.message : String(error)}`;
  if (!tooLarge) console.error("devcluster: a request failed unexpectedly:", error);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const code = tooLarge ? 413 : 500;
  const reason = tooLarge ? "RequestEntityTooLarge" : "InternalError";
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
  send(response, code, "application/json", JSON.stringify(status));
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeAllConnections();
  await closed;
}
