import { once } from "node:events";
import { connect, createServer, type ListenOptions, type NetConnectOpts, type Server, type Socket } from "node:net";

/** Forwards connections to a server and cuts them on request. */
export class Wire implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: NetConnectOpts) {
    this.#server = createServer((near) => this.#carry(near, connect(target)));
  }

  static async start(listen: ListenOptions, target: NetConnectOpts): Promise<Wire> {
    const wire = new Wire(target);
    wire.#server.listen(listen);
    await once(wire.#server, "listening");
    return wire;
  }

  /** Of a wire that listens on TCP. */
  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the wire does not listen on a port");
    return address.port;
  }

  /** Ends every connection as a network failure does; new ones are carried again. */
  cut(): void {
    // A reset exists on TCP only.
    for (const socket of this.#sockets) {
      if (socket.remoteAddress === undefined) socket.destroy();
      else socket.resetAndDestroy();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, "close");
  }

  #carry(near: Socket, far: Socket): void {
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      // When one side ends, end the other.
      socket.on("error", () => undefined);
      socket.once("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }
}
