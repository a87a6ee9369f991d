import { CLOUD_NODE_CONTROLLER, EVENT_SOURCES } from "../../api/controller-names.ts";
import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { Lister } from "../../kube/cache/lister.ts";
import { nodeSubqueues } from "../../provider/ownership/provider-set.ts";
import { Controller } from "../../runtime/controller.ts";
import { type Reconciler, stepReconciler } from "../../runtime/reconciler.ts";
import type { ControllerContext, Registration } from "../../runtime/registration.ts";
import { informerSource, providerReadySource, type Source } from "../../runtime/source.ts";
import { once } from "../../util/once.ts";
import { type Priority, Semaphore } from "../../util/semaphore.ts";
import type { Workqueue } from "../../workqueue/queue.ts";
import { DEFAULT_BACKOFF } from "../../workqueue/rate-limited-queue.ts";
import { apply } from "./apply.ts";
import { gather } from "./gather.ts";
import { type NodeMetrics, nodeMetrics } from "./metrics.ts";
import { DroppedLabels, createNodeCache } from "./node-cache.ts";
import type { NodeOptions } from "./options.ts";
import { labelPolicies } from "./plan/labels.ts";
import { plan } from "./plan.ts";
import { changesReconcile, isUninitialized } from "./predicates.ts";

/** Concurrent lookups of one provider. Several times the size of a batch, so that a thousand new nodes go out in full batches. */
const LOOKUPS = 1000;

/** Upstream's is 1000 s, but there each heartbeat of a waiting Node ends the back-off, at least every 5 min. */
const MAX_BACKOFF_MS = 300_000;

export const cloudNode: Registration<NodeOptions> = {
  name: CLOUD_NODE_CONTROLLER,
  queue: "Nodes",
  shortName: "cloud-node",
  register: (context) => {
    const metrics = once(() => nodeMetrics(context.program.metrics));
    return { build: () => cloudNodeController(context, metrics()) };
  },
};

/** Initializes Nodes that have the uninitialized taint from their instances, then keeps them up to date by field policies (plan/labels.ts). */
function cloudNodeController(context: ControllerContext<NodeOptions>, metrics: NodeMetrics): Controller {
  const { cluster, providers } = context;
  return new Controller(context, {
    reconciler: nodeReconciler(context, metrics),
    sources: [nodeSource(context), providerReadySource(providers, (queue) => enqueueAll(cluster.nodes.lister, queue))],
    subqueues: nodeSubqueues(cluster.nodes.lister, providers.providers),
    workers: LOOKUPS,
    // Upstream's back-off for a key, without its limit of 10 retries per second, which spreads the lookups of nodes that failed together
    // over minutes. Measured with 1,000 nodes after a cloud outage of 6 s: 999 calls over 99 s, compared with a few batches here.
    backoff: { ...DEFAULT_BACKOFF, maxMs: MAX_BACKOFF_MS },
  });
}

function nodeReconciler(
  { options, cluster, providers: { instances, providers }, program: { clock } }: ControllerContext<NodeOptions>,
  metrics: NodeMetrics,
): Reconciler {
  const cache = createNodeCache(options, metrics, clock);
  const gathering = { nodes: cluster.nodes.lister, instances, providers, cache };
  const events = cluster.events.recorder(EVENT_SOURCES.cloudNode);
  const applying = { kube: cluster.client, events, metrics, cache, droppedLabels: new DroppedLabels(), clock };
  const labels = labelPolicies(options.nodeTopologyPolicy);
  const writers = new Semaphore(options.concurrentNodeSyncs);
  return stepReconciler(
    {
      gather: (context) => gather(gathering, context),
      plan: (input, nowMs) => plan(input, nowMs, { labels, addressTimeoutMs: options.nodeAddressTimeout }),
      apply: (planned, context) => writers.run(context, () => apply(planned, applying, context)),
    },
    clock,
  );
}

function nodeSource({ cluster: { nodes }, providers: { providers } }: ControllerContext<NodeOptions>): Source {
  const declared = (): readonly string[] => providers.providers.flatMap(({ info }) => info?.nodeAnnotationKeys ?? []);
  return informerSource({
    name: "nodes",
    informer: nodes,
    predicate: {
      add: () => true,
      update: (old, node) => changesReconcile(old, node, declared()),
      delete: () => true,
    },
    priority: ({ object }) => priorityOf(object),
  });
}

function enqueueAll(nodes: Lister<Node>, queue: Workqueue): void {
  for (const node of nodes.list()) queue.add(keyOf(node), { priority: priorityOf(node) });
}

/** Nodes that wait for initialization go first, also when the controller starts. */
function priorityOf(node: Node): Priority {
  return isUninitialized(node) ? "high" : "low";
}
