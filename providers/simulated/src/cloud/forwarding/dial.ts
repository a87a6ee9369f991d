import { connect, type Socket } from "node:net";

/** One place a connection may go to. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Connects to one endpoint; undefined if it refuses or does not answer in time. */
export const dial = async (endpoint: Endpoint, timeoutMs: number, signal: AbortSignal): Promise<Socket | undefined> =>
  await new Promise((resolve) => {
    const socket = connect({ ...endpoint, allowHalfOpen: true, timeout: timeoutMs });
    const giveUp = (): void => {
      socket.destroy();
      settle(undefined);
    };
    const settle = (result: Socket | undefined): void => {
      socket.off("connect", succeed).off("timeout", giveUp).off("error", giveUp);
      signal.removeEventListener("abort", giveUp);
      resolve(result);
    };
    const succeed = (): void => {
      socket.setTimeout(0);
      settle(socket);
    };
    // Without a listener left an error that comes after giving up would end the process.
    socket.on("error", ignore).on("connect", succeed).on("timeout", giveUp).on("error", giveUp);
    signal.addEventListener("abort", giveUp);
    if (signal.aborted) giveUp();
  });

/** Carries bytes both ways until both sides have ended. If one fails, or nothing moves for the idle time, both are reset. */
export const join = (client: Socket, backend: Socket, idleTimeoutMs: number): void => {
  const pairs = [
    [client, backend],
    [backend, client],
  ] as const;
  for (const [from, to] of pairs) {
    from.setTimeout(idleTimeoutMs, () => {
      from.resetAndDestroy();
    });
    from.on("error", ignore);
    // An ordinary end has reached the other side through the pipe already: then its last bytes may still be on their way.
    from.on("close", () => {
      if (!to.writableEnded) to.resetAndDestroy();
    });
    from.pipe(to);
  }
};

const ignore = (): void => undefined;
