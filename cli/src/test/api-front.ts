import { request as send, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { connect, type Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { CERTIFICATE, KEY } from "./certificate.ts";

export interface Forwarding {
  /** `namespace/name`. */
  readonly pod: string;
  /** Of the question. */
  readonly port: number;
  /** Port on 127.0.0.1. undefined: the kubelet reports that no process listens; "closed": the connection is closed immediately. */
  readonly to: number | "closed" | undefined;
}

const PROTOCOL = "v4.channel.k8s.io";
const PATH = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/portforward\?ports=(\d+)$/;

/**
 * In front of an API server that runs no pods, with TLS: forwards ports as API server and kubelet do together (cri-streaming,
 * portforward/websocket.go v0.36.3), and passes everything else on.
 */
export class ApiFront implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (offered) => offered.has(PROTOCOL) && PROTOCOL,
  });
  readonly forwardings: Forwarding[] = [];
  /** Answers port-forwarding with this status and message. */
  refusal: { readonly status: number; readonly message: string } | undefined;

  private constructor(apiServer: string) {
    this.#server = createServer({ cert: CERTIFICATE, key: KEY }, (incoming, outgoing) =>
      passOn(apiServer, incoming, outgoing),
    );
    this.#server.on("upgrade", (request: IncomingMessage, socket: Socket, head) => {
      if (this.refusal !== undefined) {
        const body = JSON.stringify({ kind: "Status", message: this.refusal.message });
        socket.end(
          `HTTP/1.1 ${this.refusal.status} Refused\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
        );
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (opened) => this.#forward(opened, request.url ?? ""));
    });
  }

  static async start(apiServer: string): Promise<ApiFront> {
    const front = new ApiFront(apiServer);
    await new Promise<void>((resolve) => front.#server.listen(0, "127.0.0.1", resolve));
    return front;
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("a TCP server has no port");
    return `https://127.0.0.1:${address.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  #forward(opened: WebSocket, url: string): void {
    const [, namespace, name, port] = PATH.exec(url) ?? [];
    const found = this.forwardings.find((one) => one.pod === `${namespace}/${name}` && one.port === Number(port));
    const prefix = Buffer.alloc(2);
    prefix.writeUInt16LE(Number(port));
    for (const channel of [0, 1]) opened.send(Buffer.concat([Buffer.of(channel), prefix]));
    if (found?.to === undefined) {
      opened.send(
        Buffer.concat([Buffer.of(1), Buffer.from(`error forwarding port ${port} to pod: connection refused`)]),
      );
      opened.close();
      return;
    }
    if (found.to === "closed") {
      opened.close();
      return;
    }
    const socket = connect(found.to, "127.0.0.1");
    socket.on("data", (chunk) => opened.send(Buffer.concat([Buffer.of(0), chunk])));
    socket.on("close", () => opened.close());
    socket.on("error", () => opened.terminate());
    opened.on("message", (data) => {
      if (Buffer.isBuffer(data)) socket.write(data.subarray(1));
    });
    opened.on("close", () => socket.destroy());
  }
}

function passOn(apiServer: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method = "GET", url = "/", headers } = incoming;
  const forwarded = send(new URL(url, apiServer), { method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  forwarded.on("error", () => outgoing.destroy());
  incoming.pipe(forwarded);
}
