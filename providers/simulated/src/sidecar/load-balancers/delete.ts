import { type ChangeContext, type LoadBalancerRef, type Pending, pending } from "@cloudwire/provider-sdk";
import type { LoadBalancer } from "../../api/load-balancers.ts";
import type { CloudAccess } from "../cloud-access.ts";
import { refusalCode } from "../errors.ts";
import { findAllOf, operationOf } from "./find.ts";
import { workOf } from "./to-load-balancer.ts";

/** Deletes everything with the ownership tags of this cluster and Service, under any name. */
export async function deleteLoadBalancer(
  cloud: CloudAccess,
  ref: LoadBalancerRef,
  context: ChangeContext,
): Promise<Pending | undefined> {
  const found = await findAllOf(cloud, ref, context);
  if (context.validateOnly) {
    for (const { id } of found)
      context.addPlannedChange({ action: "delete", resourceType: "load balancer", resourceId: id });
    return undefined;
  }
  const left: { readonly loadBalancer: LoadBalancer; readonly work: Omit<Pending, "kind" | "id"> }[] = [];
  for (const loadBalancer of found) {
    const work = await deleteOne(cloud, loadBalancer, context);
    if (work) left.push({ loadBalancer, work });
  }
  const [first] = left;
  if (!first) return undefined;
  const remaining = left.map(({ loadBalancer }) => `load balancer ${loadBalancer.id}`);
  return pending(first.loadBalancer.id, { ...first.work, remaining });
}

/** How far the deletion is; undefined: done. */
async function deleteOne(
  cloud: CloudAccess,
  loadBalancer: LoadBalancer,
  context: ChangeContext,
): Promise<Omit<Pending, "kind" | "id"> | undefined> {
  if (loadBalancer.state === "deleting") {
    return workOf(loadBalancer, await operationOf(cloud, loadBalancer, context));
  }
  try {
    const deleted = await cloud.ask(context, async (client, signal) =>
      client.deleteLoadBalancer(loadBalancer.id, signal),
    );
    return deleted.operation?.state === "running" ? workOf(deleted.loadBalancer, deleted.operation) : undefined;
  } catch (error) {
    if (refusalCode(error) === "LoadBalancerNotFound") return undefined;
    throw error;
  }
}
