import { connect, createServer, type Server, type Socket } from "node:net";
import { shareWithContainers } from "./containers.ts";
import { eventually } from "../../../support/eventually.ts";

/** A socket before a provider's own. What callers send over it can be kept on its way; what the provider answers never is. */
export class SlowLink implements AsyncDisposable {
  readonly socketPath: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #held: { readonly to: Socket; readonly bytes: Buffer }[] | undefined;

  private constructor(socketPath: string, targetPath: string) {
    this.socketPath = socketPath;
    this.#server = createServer((caller) => this.#join(caller, connect(targetPath)));
  }

  static async start(socketPath: string, targetPath: string): Promise<SlowLink> {
    const link = new SlowLink(socketPath, targetPath);
    await new Promise<void>((resolve) => link.#server.listen(socketPath, resolve));
    await shareWithContainers(socketPath);
    return link;
  }

  /** From now on nothing arrives. */
  hold(): void {
    this.#held ??= [];
  }

  /** Waits until something with that text is on its way. */
  async carries(text: string): Promise<void> {
    await eventually(`"${text}" to be sent`, 20_000, () =>
      this.#held?.some(({ bytes }) => bytes.includes(text)) === true ? true : undefined,
    );
  }

  /** What was on its way arrives. */
  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const { to, bytes } of held) to.write(bytes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #join(caller: Socket, provider: Socket): void {
    caller.on("data", (bytes) => {
      if (this.#held === undefined) provider.write(bytes);
      else this.#held.push({ to: provider, bytes: Buffer.from(bytes) });
    });
    provider.on("data", (bytes) => caller.write(bytes));
    for (const [socket, other] of [
      [caller, provider],
      [provider, caller],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
