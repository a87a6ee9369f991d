import { createServer, request, type Server } from "node:http";

/** What answers on the node ports of machines: an HTTP server that says the machine's name. */
export class NodeServers implements AsyncDisposable {
  readonly #servers: Server[] = [];

  async answer(name: string, address: string, port: number): Promise<void> {
    const server = createServer((_incoming, outgoing) => {
      outgoing.setHeader("connection", "close").end(name);
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, address, resolve);
    });
    this.#servers.push(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      this.#servers.splice(0).map((server) => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(resolve));
      }),
    );
  }
}

/** The body that answers at the address, or undefined when no one does. */
export function fetchText(address: string, port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const outgoing = request({ host: address, port, agent: false, timeout: 2000 }, (incoming) => {
    let text = "";
    incoming.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    incoming.once("end", () => resolve(text));
    incoming.once("error", () => resolve(undefined));
  });
  outgoing.once("timeout", () => outgoing.destroy());
  outgoing.once("error", () => resolve(undefined));
  outgoing.end();
  return promise;
}
