import type { Logger } from "@cloudwire/provider-sdk";
import { output, type RunProgram } from "../edge/run-program.ts";
import type { Placement } from "../state/state.ts";
import { canonicalAddress, familyOf, bitsOf } from "@cloudwire/provider-sdk/addresses";

/** Addresses of this machine's interfaces. */
export interface KernelAddresses {
  readonly list: () => Promise<readonly Placement[]>;
  readonly add: (placement: Placement) => Promise<void>;
  readonly remove: (placement: Placement) => Promise<void>;
  /** Announces the address to neighbors on the network. Errors are only logged. */
  readonly announce: (placement: Placement) => Promise<void>;
}

export function kernelAddresses(run: RunProgram, log: Pick<Logger, "warn">): KernelAddresses {
  return {
    list: async () => parseAddresses(await output(run, "ip", ["-j", "address", "show"])),
    add: async ({ address, interface: device }) => {
      const family = familyOf(address) ?? 4;
      // IPv6: usable immediately, and never the source of this machine's own connections.
      const extra = family === 6 ? ["nodad", "preferred_lft", "0"] : [];
      await output(run, "ip", ["address", "replace", `${address}/${bitsOf(family)}`, "dev", device, ...extra]);
    },
    remove: async ({ address, interface: device }) => {
      await output(run, "ip", ["address", "del", `${address}/${bitsOf(familyOf(address) ?? 4)}`, "dev", device]);
    },
    announce: async ({ address, interface: device }) => {
      // Neighbors resolve IPv6 addresses again when the old entry does not respond.
      if (device === "lo" || familyOf(address) !== 4) return;
      try {
        await output(run, "arping", ["-q", "-U", "-c", "2", "-w", "3", "-I", device, "-s", address, address]);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        log.warn("Could not announce an address to neighbors; they resolve it later", { address, device, reason });
      }
    },
  };
}

/** Reads what `ip -j address show` prints. */
export function parseAddresses(json: string): readonly Placement[] {
  const links: unknown = JSON.parse(json);
  if (!Array.isArray(links)) throw new Error("ip address did not print a list");
  return links.flatMap((link: unknown): Placement[] => {
    if (typeof link !== "object" || link === null || !("ifname" in link) || !("addr_info" in link)) return [];
    const { ifname, addr_info: infos } = link;
    if (typeof ifname !== "string" || !Array.isArray(infos)) return [];
    return infos.flatMap((info: unknown) => {
      const local = typeof info === "object" && info !== null && "local" in info ? info.local : undefined;
      const address = typeof local === "string" ? canonicalAddress(local) : undefined;
      return address === undefined ? [] : { address, interface: ifname };
    });
  });
}
