import { createServer, type Server } from "node:https";
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";
import { CERTIFICATE, KEY } from "./certificate.ts";

/** What a page answers; a function is asked each time. */
export type FakePage = FakeAnswer | ((query: URLSearchParams) => FakeAnswer);

export interface FakeAnswer {
  readonly status?: number;
  /** Text is sent as it is. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  /** Of the certificate that the client showed. */
  readonly commonName: string | undefined;
}

/** A controller's pages, over TLS with a certificate of its own, as far as the shapes go. */
export class FakeController implements AsyncDisposable {
  readonly #server: Server | ReturnType<typeof createPlainServer>;
  /** By path. One that is not here is answered with 404. */
  readonly pages = new Map<string, FakePage>();
  readonly seen: SeenRequest[] = [];

  private constructor(isPlain: boolean) {
    const answer = (request: IncomingMessage, response: ServerResponse): void => this.#answer(request, response);
    this.#server = isPlain
      ? createPlainServer(answer)
      : createServer({ cert: CERTIFICATE, key: KEY, requestCert: true, rejectUnauthorized: false }, answer);
  }

  static async start({ isPlain = false } = {}): Promise<FakeController> {
    const controller = new FakeController(isPlain);
    await new Promise<void>((resolve) => controller.#server.listen(0, "127.0.0.1", resolve));
    return controller;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("a TCP server has no port");
    return address.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = "", url = "", headers, socket } = request;
    const { pathname, searchParams } = new URL(url, "https://controller");
    const certificate = socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;
    this.seen.push({
      method,
      url,
      authorization: headers.authorization,
      cookie: headers.cookie,
      commonName: /CN=(.*)/.exec(certificate?.subject ?? "")?.[1],
    });
    const page = this.pages.get(pathname);
    const {
      status = 200,
      body,
      headers: more = {},
    } = (typeof page === "function" ? page(searchParams) : page) ?? { status: 404, body: "no such page\n" };
    response.writeHead(status, { "content-type": "application/json", ...more });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  }
}
