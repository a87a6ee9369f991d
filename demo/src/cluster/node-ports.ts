import { createServer, type Server } from "node:http";
import { once } from "node:events";

/**
 * Replaces kube-proxy and a pod: listens on the instance's address and responds on each node port with the node's name. The
 * response to a request through a load balancer therefore names the target node.
 */
export class NodePorts {
  readonly #nodeName: string;
  readonly #host: string;
  readonly #servers = new Map<number, Server>();

  constructor(nodeName: string, host: string) {
    this.#nodeName = nodeName;
    this.#host = host;
  }

  /** Sets the ports to listen on. */
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
    // If another process uses the port, this node does not respond, like a broken instance.
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
