import {
  absent,
  type ChangeContext,
  type Cluster,
  type DesiredLoadBalancer,
  type LoadBalancer,
  type LoadBalancerHandlers,
  type Pending,
  ProviderError,
  pending,
} from "@cloudwire/provider-sdk";
import type { Balancer, Cloud } from "./cloud.ts";

/** Tags on each load balancer: its owner, and its spec's fingerprints, so that a restart of the controller changes nothing. */
const tag = {
  cluster: "cloudwire-cluster",
  service: "cloudwire-service",
  namespace: "cloudwire-service-namespace",
  uid: "cloudwire-service-uid",
  spec: "cloudwire-spec",
  nodes: "cloudwire-nodes",
} as const;

/** While the cloud gives a load balancer its address. */
const pollAfterMs = 5_000;

/** How this provider serves Services of type LoadBalancer. */
export const defineLoadBalancers = (cloud: Cloud): LoadBalancerHandlers => ({
  // What is not declared is not asked for: SDK and controller refuse it, and the user reads why.
  features: { protocols: ["TCP"] },
  async get({ key }, context) {
    const balancer = await cloud.balancer(context, key);
    return balancer ? answer(balancer) : absent("LOOKUP_MISS");
  },
  async *list(context) {
    const balancers = await cloud.balancersWithTag(context, tag.cluster, context.cluster.id);
    for (const balancer of balancers) yield toLoadBalancer(balancer);
  },
  async ensure(wanted, context) {
    const existing = await cloud.balancer(context, wanted.key);
    if (existing) refuseForeign(existing, wanted.cluster);
    const balancer = await cloud.putBalancer(context, wanted.key, {
      ports: wanted.ports.map(({ port, nodePort = 0 }) => ({ port, nodePort })),
      targetIds: wanted.nodes.flatMap(({ id }) => id ?? []),
      tags: { ...wanted.tags, ...ownershipTags(wanted) },
    });
    reportMissing(wanted, balancer, context);
    return answer(balancer);
  },
  async delete({ key, cluster }, context) {
    const existing = await cloud.balancer(context, key);
    if (!existing) return;
    refuseForeign(existing, cluster);
    await cloud.deleteBalancer(context, key);
  },
});

const ownershipTags = ({ cluster, service, specFingerprint, nodesFingerprint }: DesiredLoadBalancer) => ({
  [tag.cluster]: cluster.id,
  [tag.service]: service.name,
  [tag.namespace]: service.namespace,
  [tag.uid]: service.uid,
  [tag.spec]: specFingerprint,
  [tag.nodes]: nodesFingerprint,
});

/** Reports the nodes that the cloud did not accept as targets; the others get traffic. */
const reportMissing = ({ nodes }: DesiredLoadBalancer, { targetIds }: Balancer, context: ChangeContext): void => {
  const missing = nodes.filter(({ id }) => id === undefined || !targetIds.includes(id)).map(({ name }) => name);
  if (missing.length === 0) return;
  const some = missing.slice(0, 5).join(", ");
  const summary = `The cloud has no machines for ${missing.length} of ${nodes.length} nodes, which get no traffic: ${some}`;
  context.addDiagnostic({ reason: "TargetsNotFound", summary });
};

/** Nothing that this cluster has not made is changed or deleted. */
const refuseForeign = ({ id, name, tags }: Balancer, cluster: Cluster): void => {
  const owner = tags[tag.cluster];
  if (owner === undefined) {
    const message = `load balancer ${id} is named ${name} and was not made by a cluster; rename it`;
    throw new ProviderError("NAME_TAKEN", message, { metadata: { name, id } });
  }
  if (owner !== cluster.id) {
    const message = `load balancer ${id} belongs to cluster ${owner}; remove its tags if that cluster no longer exists`;
    throw new ProviderError("OWNED_BY_ANOTHER_CLUSTER", message, { metadata: { owner_cluster_id: owner, id } });
  }
};

const answer = (balancer: Balancer): LoadBalancer | Pending =>
  balancer.ip === undefined ? pending(balancer.id, { pollAfterMs }) : toLoadBalancer(balancer);

const toLoadBalancer = ({ id, ip, tags, targetIds }: Balancer): LoadBalancer => ({
  id,
  service: { name: tags[tag.service] ?? "", namespace: tags[tag.namespace] ?? "", uid: tags[tag.uid] ?? "" },
  // In a list too: what is not ready must not look as if nothing were to be waited for.
  ...(ip === undefined ? { operation: { pollAfterMs } } : { ingress: [{ ip }] }),
  specFingerprint: tags[tag.spec],
  nodesFingerprint: tags[tag.nodes],
  registeredNodes: targetIds.length,
  tags,
});
