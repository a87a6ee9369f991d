import { once } from "node:events";
import { createServer } from "node:net";

/** A free port on loopback, for a process that must use the same port after a restart. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("the kernel returned no port");
  return address.port;
}
