import { createServer } from "node:net";
import type { Cidr } from "@cloudwire/provider-sdk/addresses";
import { addressAt, sizeOf } from "./addresses.ts";

const unprivilegedOffset = 10_000;

/** An unused port below 1024: 1 is tcpmux. */
const probedPort = 1;

/** Decides "auto" by trying: rights, capabilities and ip_unprivileged_port_start all count. */
export async function resolveOffset(offset: number | "auto", loadBalancers: Cidr): Promise<number> {
  if (offset !== "auto") return offset;
  // The last address of the pool is the broadcast address, which no load balancer gets.
  const host = addressAt(loadBalancers, Number(sizeOf(loadBalancers) - 1n));
  return (await mayListen(host)) ? 0 : unprivilegedOffset;
}

/** The load balancers report all other failures than a missing permission. */
async function mayListen(host: string): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", (error) => {
      resolve(!("code" in error && error.code === "EACCES"));
    });
    server.listen(probedPort, host, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}
