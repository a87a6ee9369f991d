import { once } from "node:events";
import { createServer } from "node:net";

/** A port of loopback that nobody listens on at this moment: for who is to have the same one after a restart. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("the kernel gave no port");
  return address.port;
}
