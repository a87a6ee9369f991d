import type { ChangeContext, LoadBalancer as ProviderLoadBalancer, LoadBalancerRef } from "@cloudwire/provider-sdk";
import type { LoadBalancer, LoadBalancerChange } from "../../api/load-balancers.ts";
import type { CloudAccess } from "../cloud-access.ts";
import { findOwn, notFound, operationOf } from "./find.ts";
import { toLoadBalancer } from "./to-load-balancer.ts";
import { hasTargets, type WantedTargets } from "./targets.ts";

/** Replaces only the targets. */
export async function updateNodes(
  cloud: CloudAccess,
  wanted: LoadBalancerRef,
  targets: WantedTargets,
  context: ChangeContext,
): Promise<ProviderLoadBalancer> {
  const { loadBalancer } = await findOwn(cloud, wanted, context);
  if (!loadBalancer || loadBalancer.state === "deleting") throw notFound(wanted);
  const changed = await replaceTargets(cloud, loadBalancer, targets, context);
  return toLoadBalancer(changed.loadBalancer, await operationOf(cloud, changed.loadBalancer, context));
}

/** One call, or none if the cloud has these targets. */
export async function replaceTargets(
  cloud: CloudAccess,
  loadBalancer: LoadBalancer,
  targets: WantedTargets,
  context: ChangeContext,
): Promise<LoadBalancerChange> {
  if (hasTargets(loadBalancer, targets)) return { loadBalancer, ignoredTargets: [] };
  if (context.validateOnly) {
    const summary = `${loadBalancer.targetCount} targets become ${targets.ids.length}`;
    context.addPlannedChange({ action: "update", resourceType: "targets", resourceId: loadBalancer.id, summary });
    return { loadBalancer, ignoredTargets: [] };
  }
  const changed = await cloud.ask(context, async (client, signal) =>
    client.replaceTargets(loadBalancer.id, targets.ids, signal, targets.metadata),
  );
  warnAboutIgnored(changed, context);
  return changed;
}

/** Machines that vanished since the list of nodes was made. */
export function warnAboutIgnored({ ignoredTargets }: LoadBalancerChange, context: ChangeContext): void {
  if (ignoredTargets.length === 0) return;
  const shown = ignoredTargets.slice(0, 5).join(", ");
  const summary = `${ignoredTargets.length} targets are not instances any longer and were left out: ${shown}`;
  context.addDiagnostic({ reason: "TargetsNotFound", summary });
}
