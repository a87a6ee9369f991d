import process from "node:process";
import { fileURLToPath } from "node:url";
import { Site } from "../network/support/site.ts";
import type { Host, Started, Subject } from "./subject.ts";

const MACHINE = fileURLToPath(new URL("../network/support/programs/machine.ts", import.meta.url));

/** The provider for bare metal on the gateway of this site, and an inventory that the kit changes. */
export async function startOn(site: Site): Promise<Started> {
  const [running, other, stopped] = site.topology.nodes;
  if (running === undefined || other === undefined || stopped === undefined)
    throw new Error("the topology has no three nodes");
  await site.writeInventory([running, other, { ...stopped, isStopped: true }]);
  const hook = (action: string) => ({
    command: [process.execPath, "--conditions=development", MACHINE, site.inventoryPath, action],
  });
  const config = {
    instance: {
      providerId: `baremetal://id-${running.name}`,
      nodeName: running.name,
      type: "metal-1",
      zone: "rack-1",
      region: "home",
      addresses: [running.ipv4, running.ipv6],
    },
    otherInstance: { providerId: `baremetal://id-${other.name}`, nodeName: other.name },
    stoppedProviderId: `baremetal://id-${stopped.name}`,
    // An inventory lists the existing machines.
    terminatedProviderId: "baremetal://id-node-8",
    absentProviderId: "baremetal://id-node-9",
    malformedIds: ["baremetal://NODE 1/.."],
    routeCidrs: ["10.245.1.0/24", "10.245.2.0/24"],
    loadBalancer: { timeoutSeconds: 20 },
    hooks: {
      instanceCreate: hook("create"),
      instanceStop: hook("stop"),
      instanceStart: hook("start"),
      instanceTerminate: hook("terminate"),
    },
  };
  return { command: site.providerCommand, config: JSON.stringify(config) };
}

/** Root alone can make its network namespaces: the suite `network` runs the kit on it. */
export const baremetalSubject: Subject = {
  name: "baremetal",
  title: "the provider for bare metal",
  cloud:
    "It works with HAProxy, nftables and the kernel's routes on a gateway of its own, in network namespaces, and with an inventory that the kit changes.",
  level: "D",
  knownFailing: {},
  start: async (host: Host) => {
    const site = await Site.create();
    host.defer(() => site[Symbol.asyncDispose]());
    return startOn(site);
  },
};
