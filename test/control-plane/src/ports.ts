import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { ControlPlaneError } from "./errors.ts";

// Below 32,768, where Linux begins to hand out ports for outgoing connections: a port from there may be taken
// between the check and the start of the server. Port 0 would hand out exactly those.
const lowestPort = 20_000;
const highestPort = 32_767;
const attempts = 50;

/** A port of 127.0.0.1 on which no one listens now. Nothing reserves it: be ready to try another one. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const port = randomInt(lowestPort, highestPort + 1);
    if (await isFree(port)) return port;
  }
  throw new ControlPlaneError("NOT_READY", `tried ${attempts} ports from ${lowestPort} to ${highestPort}: all taken`);
}

export async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listening = once(server, "listening");
  server.listen(port, "127.0.0.1");
  try {
    await listening;
  } catch {
    // Whatever the reason, this port is of no use.
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
