import {
  ProviderError,
  type Route,
  type RouteChangeContext,
  type RouteHandlers,
  type DesiredRoute,
} from "@cloudwire/provider-sdk";

/** A route and whose it is. */
interface Held extends Route {
  readonly cluster: string;
}

const limit = 1_000;

/** Routes in memory, in one table for all clusters. */
export const referenceRoutes = (isTarget: (id: string) => boolean): RouteHandlers => {
  const held = new Map<string, Held>();
  const quota = () => ({ limit, used: held.size });
  const ensure = (wanted: DesiredRoute, context: RouteChangeContext): Route => {
    const { destinationCidr, targetId, targetNodeName } = wanted;
    const before = held.get(destinationCidr);
    context.recordCloudCall({});
    if (targetId === undefined || !isTarget(targetId))
      throw new ProviderError("ROUTE_TARGET_NOT_FOUND", `${wanted.targetProviderId} is no machine of this cloud`);
    if (before !== undefined && before.cluster !== context.cluster.id)
      throw new ProviderError("CIDR_CONFLICT", `${destinationCidr} leads to an instance of another owner`, {
        metadata: { cidr: destinationCidr },
      });
    if (before?.targetId === targetId) return before;
    const made = {
      id: `route-${destinationCidr}`,
      destinationCidr,
      targetId,
      targetNodeName,
      cluster: context.cluster.id,
    };
    if (context.validateOnly) {
      context.addPlannedChange({
        action: before === undefined ? "create" : "update",
        resourceType: "route",
        resourceId: made.id,
      });
      return before ?? made;
    }
    context.recordCloudCall({ mutation: true });
    held.set(destinationCidr, made);
    context.reportQuota(quota());
    return made;
  };
  return {
    features: { validateOnly: true, ipFamilies: ["IPv4", "IPv6"] },
    async *list({ cluster, reportQuota, recordCloudCall }) {
      recordCloudCall({});
      reportQuota(quota());
      for (const one of held.values()) if (one.cluster === cluster.id) yield one;
    },
    ensure,
    delete: ({ destinationCidr }, context) => {
      const before = held.get(destinationCidr);
      context.recordCloudCall({});
      if (before === undefined) return;
      if (before.cluster !== context.cluster.id)
        throw new ProviderError("OWNED_BY_ANOTHER_CLUSTER", `${destinationCidr} was not made by this cluster`, {
          metadata: { owner_cluster_id: before.cluster, owner_cluster_name: "", id: before.id },
        });
      if (context.validateOnly)
        return context.addPlannedChange({ action: "delete", resourceType: "route", resourceId: before.id });
      context.recordCloudCall({ mutation: true });
      held.delete(destinationCidr);
    },
  };
};
