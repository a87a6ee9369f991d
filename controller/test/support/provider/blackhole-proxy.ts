import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";

/** Forwards TCP to a loopback port until existing connections are blackholed, as when a host loses power. */
export class BlackholeProxy {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((client) => this.#forward(client));
  readonly #port: number;
  /** Connections so far. */
  connections = 0;

  constructor(port: number) {
    this.#port = port;
  }

  /** Answers the port. */
  async listen(): Promise<number> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("a TCP server has no port");
    return address.port;
  }

  /** Connections that stand stay open and carry nothing; later ones are forwarded. */
  silence(): void {
    for (const socket of this.#sockets) socket.unpipe().resume();
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }

  #forward(client: Socket): void {
    this.connections++;
    const server = connect({ host: "127.0.0.1", port: this.#port });
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
    }
    client.pipe(server);
    server.pipe(client);
  }
}
