import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** Loopback networks of one demo, to allow several on one machine. */
export interface Slot {
  readonly instancePool: string;
  readonly loadBalancerPool: string;
  readonly release: () => void;
}

const SLOTS = 256;
/** A listener on this port marks the slot as used. The kernel closes it even if the demo crashes. */
const LOCK_PORT = 20_254;

/** Takes the first networks that no other demo uses. */
export async function takeSlot(): Promise<Slot> {
  for (let slot = 0; slot < SLOTS; slot += 1) {
    const lock = await listen(`127.20.${slot}.254`);
    if (lock === undefined) continue;
    return {
      instancePool: `127.10.${slot}.0/24`,
      loadBalancerPool: `127.20.${slot}.0/24`,
      release: () => {
        lock.close();
      },
    };
  }
  throw new Error(`no loopback network is free: ${SLOTS} demos are running`);
}

/** A listener on the address; `undefined` if another process has it. */
async function listen(host: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy());
  server.listen(LOCK_PORT, host);
  try {
    await once(server, "listening");
    return server;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return undefined;
    throw error;
  }
}
