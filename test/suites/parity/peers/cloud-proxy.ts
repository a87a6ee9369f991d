import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One call of the cloud by the program under test. */
export interface CloudCall {
  readonly method: string;
  /** With its query, decoded. */
  readonly path: string;
  readonly body: string;
  readonly status: number;
  readonly endedAtMs: number;
}

/** Stands between a program under test and the cloud and remembers its calls; what the suite itself asks goes past it. */
export class CloudProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: URL;
  readonly #calls: CloudCall[] = [];

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((incoming, outgoing) => void this.#forward(incoming, outgoing));
  }

  static async start(cloudUrl: string): Promise<CloudProxy> {
    const proxy = new CloudProxy(new URL(cloudUrl));
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once("error", reject);
      proxy.#server.listen(0, "127.0.0.1", resolve);
    });
    return proxy;
  }

  get url(): string {
    const address: AddressInfo | string | null = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the proxy does not listen");
    return `http://127.0.0.1:${address.port}`;
  }

  /** In the order of their ends, long polls for changes left out: they carry no desired state and prove nothing. */
  get calls(): readonly CloudCall[] {
    return this.#calls;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
      const body = Buffer.concat(chunks);
      const { method = "GET", url: path = "/" } = incoming;
      const { hostname, port } = this.#target;
      const forwarded = request({ hostname, port, method, path, headers: incoming.headers }, (answer) => {
        if (!path.startsWith("/v1/events")) {
          this.#calls.push({
            method,
            path: decode(path),
            body: body.toString(),
            status: answer.statusCode ?? 0,
            endedAtMs: Date.now(),
          });
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
        answer.once("error", () => outgoing.destroy());
      });
      // The cloud cut the connection, or the client is gone: each side learns of the other's end.
      forwarded.once("error", () => outgoing.destroy());
      outgoing.once("close", () => forwarded.destroy());
      forwarded.end(body);
    } catch {
      // The program under test ended in the middle of its question.
      outgoing.destroy();
    }
  }
}

/** A query as its author wrote it. */
function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
