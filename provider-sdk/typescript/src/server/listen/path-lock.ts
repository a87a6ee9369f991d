import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Longest wait for a rival that is starting; it needs milliseconds. */
const maxWaitMs = 5_000;
const retryMs = 10;

/**
 * Runs `work` while no other process does so for the same path. The lock is a socket in Linux' abstract namespace: it leaves no
 * file beside the provider's socket, and ends with its process however that ends. Elsewhere `work` runs without.
 */
export const withPathLock = async <Result>(path: string, work: () => Promise<Result>): Promise<Result> => {
  const lock = process.platform === "linux" ? await acquire(await lockName(path)) : undefined;
  try {
    return await work();
  } finally {
    lock?.close();
  }
};

/** By the directory itself and not by its name: containers see one directory under different paths, and different ones under one. */
const lockName = async (path: string): Promise<string> => {
  const { dev, ino } = await stat(dirname(path));
  const hash = createHash("sha256")
    .update(`${dev}/${ino}/${basename(path)}`)
    .digest("hex");
  return `\0cloudwire-provider-${hash.slice(0, 32)}`;
};

/** undefined: a rival holds it for too long, and the look at the socket has to decide. */
const acquire = async (name: string): Promise<Server | undefined> => {
  const endMs = performance.now() + maxWaitMs;
  do {
    const server = await tryListen(name);
    if (server) return server;
    await sleep(retryMs);
  } while (performance.now() < endMs);
  return undefined;
};

const tryListen = (name: string): Promise<Server | undefined> =>
  new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", () => resolve(undefined));
    server.listen(name, () => resolve(server));
  });
