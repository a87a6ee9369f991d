import {
  absent,
  type LoadBalancer,
  type LoadBalancerHandlers,
  ProviderError,
  type Route,
  type RouteHandlers,
  type WantedLoadBalancer,
} from "@cloudwire/provider-sdk";

/** What is there, by the stamp of cluster and Service, or cluster and range. */
interface Held {
  readonly cluster: string;
}

const keyOf = (cluster: string, name: string): string => `${cluster}/${name}`;

const balancerOf = (wanted: WantedLoadBalancer, isTarget: (id: string) => boolean, ip: string): LoadBalancer => {
  const { service, specFingerprint, nodesFingerprint } = wanted;
  const targets = wanted.nodes.filter(({ id }) => id !== undefined && isTarget(id));
  const ports = wanted.ports.map(({ port, protocol }) => `${protocol}:${port}`).toSorted();
  return {
    id: `lb-${wanted.key}`,
    service,
    ingress: [{ ip }],
    specFingerprint,
    nodesFingerprint,
    observedFingerprint: JSON.stringify([ports, targets.map(({ providerId }) => providerId)]).slice(0, 128),
    registeredNodes: targets.length,
  };
};

/** Load balancers in memory; a target is a machine that there is. */
export const referenceBalancers = (isTarget: (id: string) => boolean): LoadBalancerHandlers => {
  const held = new Map<string, LoadBalancer & Held>();
  let addresses = 0;
  return {
    features: { validateOnly: true, classes: ["acme.example.com/standard"], nodeSets: { maxSets: 8 } },
    get: ({ cluster, service }) => held.get(keyOf(cluster.id, service.uid)) ?? absent("LOOKUP_MISS"),
    ensure: (wanted, context) => {
      const key = keyOf(wanted.cluster.id, wanted.service.uid);
      const before = held.get(key);
      if (context.validateOnly) return before;
      const gone = wanted.nodes.find(({ id }) => id === undefined || !isTarget(id));
      if (gone !== undefined)
        context.diagnose({ reason: "NodeGone", summary: `${gone.name} is no machine of this cloud` });
      const ip = before?.ingress?.[0]?.ip ?? `198.51.100.${(addresses++ % 250) + 1}`;
      const made = { ...balancerOf(wanted, isTarget, ip), cluster: wanted.cluster.id };
      held.set(key, made);
      return made;
    },
    delete: ({ cluster, service }, { validateOnly }) => {
      if (!validateOnly) held.delete(keyOf(cluster.id, service.uid));
    },
    updateNodes: ({ cluster, service, nodes, nodesFingerprint }, { validateOnly }) => {
      const key = keyOf(cluster.id, service.uid);
      const before = held.get(key);
      if (before === undefined) throw new ProviderError("LOAD_BALANCER_NOT_FOUND", "there is no load balancer here");
      if (validateOnly) return before;
      const registeredNodes = nodes.filter(({ id }) => id !== undefined && isTarget(id)).length;
      const after = { ...before, nodesFingerprint, registeredNodes };
      held.set(key, after);
      return after;
    },
    async *list({ cluster }) {
      for (const one of held.values()) if (one.cluster === cluster.id) yield one;
    },
  };
};

/** Routes in memory. */
export const referenceRoutes = (isTarget: (id: string) => boolean): RouteHandlers => {
  const held = new Map<string, Route & Held>();
  return {
    features: { validateOnly: true },
    async *list({ cluster }) {
      for (const one of held.values()) if (one.cluster === cluster.id) yield one;
    },
    ensure: (wanted, { cluster, validateOnly }) => {
      const { destinationCidr, targetId, targetNodeName } = wanted;
      const made = {
        id: `route-${cluster.id}-${destinationCidr}`,
        destinationCidr,
        targetId,
        targetNodeName,
        cluster: cluster.id,
      };
      if (validateOnly) return made;
      if (targetId === undefined || !isTarget(targetId))
        throw new ProviderError("ROUTE_TARGET_NOT_FOUND", `${wanted.targetProviderId} is no machine of this cloud`);
      held.set(keyOf(cluster.id, destinationCidr), made);
      return made;
    },
    delete: ({ destinationCidr }, { cluster, validateOnly }) => {
      if (!validateOnly) held.delete(keyOf(cluster.id, destinationCidr));
    },
  };
};
