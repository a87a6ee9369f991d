import type {
  ChangeContext,
  LoadBalancer as ProviderLoadBalancer,
  LoadBalancerRef,
  UnregisteredNode,
} from "@cloudwire/provider-sdk";
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
  const { observedFingerprint } = toLoadBalancer(loadBalancer);
  const changed = await replaceTargets(cloud, loadBalancer, targets, context);
  return {
    ...toLoadBalancer(changed.loadBalancer, await operationOf(cloud, changed.loadBalancer, context)),
    unregisteredNodes: unregistered(changed, targets),
    previousObservedFingerprint: observedFingerprint,
  };
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
  return cloud.ask(context, async (client, signal) =>
    client.replaceTargets(loadBalancer.id, targets.ids, signal, targets.metadata),
  );
}

/** Nodes whose instances the cloud does not know, or no longer. */
export function unregistered(
  { ignoredTargets }: Pick<LoadBalancerChange, "ignoredTargets">,
  { nodes }: Pick<WantedTargets, "nodes">,
): readonly UnregisteredNode[] {
  return ignoredTargets.map((id) => {
    const { name = id, providerId } = nodes.get(id) ?? {};
    return { name, providerId, reason: "InstanceNotFound", message: `The cloud has no instance ${id}.` };
  });
}
