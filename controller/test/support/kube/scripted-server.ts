import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { ApiAccess } from "../../../src/kube/connection/access.ts";

/** One request as it arrived. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export type Answer = (request: SeenRequest, response: ServerResponse) => void;

/** An HTTP server whose every answer the test writes; faults included. Remembers what it was asked. */
export class ScriptedServer implements AsyncDisposable {
  readonly requests: SeenRequest[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Connections accepted so far. */
  connections = 0;
  answer: Answer;

  private constructor(answer: Answer) {
    this.answer = answer;
    this.#server = createServer((request, response) => this.#serve(request, response));
    this.#server.keepAliveTimeout = 0;
    this.#server.on("connection", (socket: Socket) => {
      this.connections++;
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => undefined);
    });
  }

  static async start(answer: Answer): Promise<ScriptedServer> {
    const server = new ScriptedServer(answer);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port()}`;
  }

  access(headers: Readonly<Record<string, string>> = {}): ApiAccess {
    return {
      server: this.url,
      description: "scripted server",
      proxyUrl: undefined,
      credentials: () => Promise.resolve({ headers, tls: {} }),
    };
  }

  /** Requests that are watches. */
  get watches(): readonly SeenRequest[] {
    return this.requests.filter(({ query }) => query.get("watch") === "true");
  }

  /** Requests that are lists. */
  get lists(): readonly SeenRequest[] {
    return this.requests.filter(({ method, query }) => method === "GET" && query.get("watch") === null);
  }

  /** Connections open now. */
  get open(): number {
    return this.#sockets.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #port(): number {
    const address: AddressInfo | string | null = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the scripted server does not listen");
    return address.port;
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const url = new URL(request.url ?? "/", "http://scripted");
      const seen: SeenRequest = {
        method: request.method ?? "",
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        body: Buffer.concat(parts).toString("utf8"),
      };
      this.requests.push(seen);
      this.answer(seen, response);
    });
  }
}

/** Answers with a JSON body. */
export function sendJson(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/** Answers with a metav1.Status. */
export function sendStatus(
  response: ServerResponse,
  code: number,
  reason: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendJson(
    response,
    { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: `${reason} by script` },
    code,
    headers,
  );
}

/** Begins a JSON watch; events are written with {@link writeEvent}. */
export function beginWatch(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json;stream=watch" });
  response.flushHeaders();
}

export function writeEvent(response: ServerResponse, type: string, object: unknown): void {
  response.write(`${JSON.stringify({ type, object })}\n`);
}

/** A minimal Node as the server would send it. */
export function nodeJson(name: string, resourceVersion: number, uid = `uid-${name}`): Record<string, unknown> {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, uid, resourceVersion: String(resourceVersion), creationTimestamp: "2026-11-21T11:00:00Z" },
  };
}

export function listJson(items: readonly unknown[], resourceVersion: number, next = ""): Record<string, unknown> {
  return {
    apiVersion: "v1",
    kind: "NodeList",
    metadata: { resourceVersion: String(resourceVersion), continue: next },
    items,
  };
}

export function bookmarkJson(resourceVersion: number, initialEventsEnd = false): Record<string, unknown> {
  const annotations = initialEventsEnd ? { "k8s.io/initial-events-end": "true" } : {};
  return { apiVersion: "v1", kind: "Node", metadata: { resourceVersion: String(resourceVersion), annotations } };
}
