import { createServer, type Server, type Socket } from "node:net";
import { dial, join } from "./dial.ts";
import { Rotation } from "./rotation.ts";

/** What a listener asks its load balancer for each new connection. */
export interface Traffic {
  readonly targets: () => readonly string[];
  /** Undefined while the instance does not run. */
  readonly addressOf: (instanceId: string) => string | undefined;
  /** Whether the target wants traffic. */
  readonly isHealthy: (host: string) => Promise<boolean>;
  readonly isAllowed: (clientAddress: string) => boolean;
  readonly isSticky: () => boolean;
  readonly targetPort: () => number;
  readonly idleTimeoutMs: () => number;
}

export interface DialLimits {
  /** For one target. */
  readonly connectTimeoutMs: number;
  /** For all targets together. */
  readonly totalTimeoutMs: number;
}

/** One port of a load balancer: takes connections and carries them to targets. */
export class Listener {
  readonly #server: Server;
  readonly #traffic: Traffic;
  readonly #limits: DialLimits;
  readonly #rotation: Rotation;
  readonly #sockets = new Set<Socket>();

  constructor(traffic: Traffic, limits: DialLimits, now: () => number) {
    this.#traffic = traffic;
    this.#limits = limits;
    this.#rotation = new Rotation(now);
    // pauseOnConnect: what the client sends before a target is found waits in the kernel.
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
      this.#keep(client);
      void this.#serve(client);
    });
  }

  /** Rejects with the system's error if the port cannot be had. */
  async listen(host: string, port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ host, port }, () => {
        this.#server.off("error", reject);
        this.#server.on("error", () => undefined);
        resolve();
      });
    });
  }

  /** Ends the port and every connection through it. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
    for (const socket of this.#sockets) socket.resetAndDestroy();
    await closed;
  }

  async #serve(client: Socket): Promise<void> {
    const clientAddress = client.remoteAddress ?? "";
    client.on("error", () => undefined);
    const backend = this.#traffic.isAllowed(clientAddress) ? await this.#findBackend(client, clientAddress) : undefined;
    if (!backend || client.destroyed) {
      backend?.destroy();
      client.resetAndDestroy();
      return;
    }
    this.#keep(backend);
    join(client, backend, this.#traffic.idleTimeoutMs());
  }

  async #findBackend(client: Socket, clientAddress: string): Promise<Socket | undefined> {
    const gone = new AbortController();
    const giveUp = (): void => {
      gone.abort();
    };
    client.once("close", giveUp);
    const timer = setTimeout(giveUp, this.#limits.totalTimeoutMs);
    try {
      const stickyTo = this.#traffic.isSticky() ? clientAddress : undefined;
      for (const target of this.#rotation.candidates(this.#traffic.targets(), stickyTo)) {
        const host = this.#traffic.addressOf(target);
        if (host === undefined || !(await this.#traffic.isHealthy(host))) continue;
        const endpoint = { host, port: this.#traffic.targetPort() };
        const backend = await dial(endpoint, this.#limits.connectTimeoutMs, gone.signal);
        if (backend) {
          this.#rotation.succeeded(target);
          return backend;
        }
        if (gone.signal.aborted) return undefined;
        this.#rotation.failed(target);
      }
      return undefined;
    } finally {
      clearTimeout(timer);
      client.off("close", giveUp);
    }
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => {
      this.#sockets.delete(socket);
    });
  }
}
