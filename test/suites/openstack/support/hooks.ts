import { createServer, type IncomingMessage, type Server as HttpServer } from "node:http";
import { at } from "../../../support/kube.ts";
import type { Server, Tenant } from "./tenant.ts";

type Work = (machine: string) => Promise<object>;

/** What the conformance kit does to a project, as requests with the machine's name in their bodies. */
export class CloudHooks implements AsyncDisposable {
  readonly url: string;
  readonly #server: HttpServer;

  private constructor(url: string, server: HttpServer) {
    this.url = url;
    this.#server = server;
  }

  static async start(tenant: Tenant): Promise<CloudHooks> {
    const work = worksOf(tenant);
    const server = createServer((request, response) => {
      answer(work, request).then(
        (body) => response.end(JSON.stringify(body)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("a TCP server has no port");
    return new CloudHooks(`http://127.0.0.1:${address.port}`, server);
  }

  /** As the kit's configuration has it. */
  hook(action: string): object {
    const body = JSON.stringify({ machine: "${CONFORMANCE_NODE_NAME}" });
    return { http: { url: `${this.url}/${action}`, headers: { "content-type": "application/json" }, body } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function worksOf(tenant: Tenant): Readonly<Record<string, Work>> {
  const made = new Map<string, Server>();
  const idOf = (machine: string): string => {
    const server = made.get(machine);
    if (server === undefined) throw new Error(`there is no machine ${machine}`);
    return server.id;
  };
  return {
    create: async (machine) => {
      const server = await tenant.createServer(machine);
      made.set(machine, server);
      return { providerId: `openstack:///${server.id}`, nodeName: machine };
    },
    stop: async (machine) => done(tenant.stopServer(idOf(machine))),
    start: async (machine) => done(tenant.startServer(idOf(machine))),
    terminate: async (machine) => {
      const server = made.get(machine);
      made.delete(machine);
      return done(server === undefined ? Promise.resolve() : tenant.deleteServer(server.id));
    },
  };
}

async function done(work: Promise<void>): Promise<object> {
  await work;
  return {};
}

async function answer(works: Readonly<Record<string, Work>>, request: IncomingMessage): Promise<object> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(Buffer.from(part));
  const payload: unknown = JSON.parse(Buffer.concat(parts).toString());
  const work = works[request.url?.slice(1) ?? ""];
  if (work === undefined) throw new Error(`there is no action ${request.url}`);
  return work(String(at(payload, "machine")));
}
