import { eventually } from "../../../../support/eventually.ts";
import { at } from "../../../../support/kube.ts";
import type { CloudCaller } from "../../support/caller.ts";
import type { Server, Tenant } from "../../support/tenant.ts";
import type { Fact } from "../recording.ts";

/** For a cloud that makes machines and load balancers on a machine that does other things, too. */
const settledMs = 120_000;

/** Asks until it is so. */
export async function until(what: string, ask: () => Promise<boolean>): Promise<void> {
  await eventually(what, settledMs, async () => ((await ask()) ? true : undefined));
}

/** A server that runs. */
export async function makeServer(tenant: Tenant, name: string): Promise<Server & Fact> {
  return { ...(await tenant.createServer(name)) };
}

export async function deleteServer(tenant: Tenant, { id = "" }: Fact): Promise<void> {
  await tenant.deleteServer(id);
}

export async function untilBalancer(member: CloudCaller, id: string): Promise<void> {
  await until(`load balancer ${id} to be ACTIVE`, async () => {
    const answer = await member.ask("octavia", "GET", `/lbaas/loadbalancers/${id}`);
    return at(answer, "loadbalancer", "provisioning_status") === "ACTIVE";
  });
}

export async function deleteBalancer({ member }: Tenant, { id }: Fact): Promise<void> {
  const path = `/lbaas/loadbalancers/${id}`;
  await member.ask("octavia", "DELETE", `${path}?cascade=true`);
  await until(`load balancer ${id} to be gone`, async () => (await member.send("octavia", "GET", path)).status === 404);
}
