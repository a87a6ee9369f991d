import process from "node:process";
import { fileURLToPath } from "node:url";
import { CloudHooks } from "../openstack/support/hooks.ts";
import { createTenant, RealOpenStack } from "../openstack/support/real-openstack.ts";
import type { Tenant } from "../openstack/support/tenant.ts";
import type { Host, Started, Subject } from "./subject.ts";

const SIDECAR = fileURLToPath(new URL("../../../providers/openstack/src/main.ts", import.meta.url));

/** Octavia makes a load balancer in many steps, and the kit makes hundreds. */
const RUN_MS = 3_600_000;

/** The provider for OpenStack in this project. */
export async function startIn(tenant: Tenant, host: Host): Promise<Started> {
  const { cloud } = tenant;
  const [first, second, stopped, gone] = [
    await tenant.createServer("node-1"),
    await tenant.createServer("node-2"),
    await tenant.createServer("node-3"),
    await tenant.createServer("node-4"),
  ];
  await tenant.stopServer(stopped.id);
  await tenant.deleteServer(gone.id);
  const volume = await tenant.createVolume();
  const hooks = await CloudHooks.start(tenant);
  host.defer(() => hooks[Symbol.asyncDispose]());
  const config = {
    instance: {
      providerId: `openstack:///${first.id}`,
      nodeName: first.name,
      type: tenant.flavorName,
      zone: cloud.zone,
      region: cloud.region,
      addresses: [first.address],
    },
    otherInstance: { providerId: `openstack:///${second.id}`, nodeName: second.name },
    stoppedProviderId: `openstack:///${stopped.id}`,
    terminatedProviderId: `openstack:///${gone.id}`,
    absentProviderId: "openstack:///00000000-0000-4000-8000-ffffffffffff",
    malformedIds: ["openstack:///node-1"],
    volume: { handle: volume, zones: [cloud.zone], region: cloud.region },
    absentVolumeHandle: "00000000-0000-4000-8000-ffffffffffff",
    malformedVolumeHandle: "vol-01234567",
    routeCidrs: ["10.120.1.0/24", "10.120.2.0/24"],
    canarySecret: tenant.credential.secret,
    // Neutron lets no one but administrators choose an address that the project does not have.
    loadBalancer: { requestedIp: await tenant.createFloatingIp(), timeoutSeconds: 240 },
    hooks: {
      instanceCreate: hooks.hook("create"),
      instanceStop: hooks.hook("stop"),
      instanceStart: hooks.hook("start"),
      instanceTerminate: hooks.hook("terminate"),
    },
  };
  return {
    command: [process.execPath, "--conditions=development", SIDECAR],
    env: tenant.env,
    config: JSON.stringify(config),
    runMs: RUN_MS,
  };
}

/** It takes minutes to install and start its cloud: the suite `openstack` runs the kit on it. */
export const openStackSubject: Subject = {
  name: "openstack",
  title: "the provider for OpenStack",
  cloud:
    "It works with OpenStack's own services, whose machines and load balancers are Nova's and Octavia's drivers that do nothing.",
  level: "M",
  knownFailing: {},
  start: async (host) => {
    const cloud = await RealOpenStack.start();
    host.defer(() => cloud[Symbol.asyncDispose]());
    return startIn(await createTenant(cloud.address), host);
  },
};
