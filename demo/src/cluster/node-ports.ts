import { createServer, type Server } from "node:http";
import { once } from "node:events";

/**
 * Stands in for kube-proxy and a pod: answers on the machine's address, at each node port wanted, with the node's name. So a
 * request to a load balancer tells which node it came out at.
 */
export class NodePorts {
  readonly #nodeName: string;
  readonly #host: string;
  readonly #servers = new Map<number, Server>();

  constructor(nodeName: string, host: string) {
    this.#nodeName = nodeName;
    this.#host = host;
  }

  /** Listens on exactly these ports from now on. */
  set(ports: ReadonlySet<number>): void {
    for (const [port, server] of this.#servers) {
      if (!ports.has(port)) this.#close(port, server);
    }
    for (const port of ports) {
      if (!this.#servers.has(port)) this.#servers.set(port, this.#listen(port));
    }
  }

  async close(): Promise<void> {
    const servers = [...this.#servers.values()];
    this.set(new Set());
    await Promise.all(servers.filter((server) => server.listening).map((server) => once(server, "close")));
  }

  #listen(port: number): Server {
    const server = createServer((_request, response) => {
      response.setHeader("connection", "close");
      response.end(`Hello from ${this.#nodeName}\n`);
    });
    // A port taken by somebody else on this address leaves the node out, as a broken machine would be.
    server.on("error", () => this.#servers.delete(port));
    server.listen(port, this.#host);
    return server;
  }

  #close(port: number, server: Server): void {
    this.#servers.delete(port);
    server.close();
    server.closeAllConnections();
  }
}
