import { EVENT_SOURCES, NODE_IPAM_CONTROLLER } from "../../api/controller-names.ts";
import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import { OwnWrites } from "../../kube/cache/store.ts";
import { nodeSubqueues } from "../../provider/ownership/provider-set.ts";
import { Controller } from "../../runtime/controller.ts";
import type { ControllerContext, Registration } from "../../runtime/registration.ts";
import { informerSource, providerReadySource, type Source } from "../../runtime/source.ts";
import { once } from "../../util/once.ts";
import { Semaphore } from "../../util/semaphore.ts";
import { DEFAULT_BACKOFF, type ExponentialOptions } from "../../workqueue/rate-limited-queue.ts";
import { CidrAllocations } from "./cidr-allocations.ts";
import { CidrSet } from "./cidr-set.ts";
import { cloudAllocator } from "./cloud-allocator.ts";
import { type NodeIpamMetrics, nodeIpamMetrics } from "./metrics.ts";
import { nodeCidrs } from "../../kube/node-cidrs.ts";
import { type NodeIpamOptions, serviceCidrs } from "./options.ts";
import { changesNeed, needsCidrs } from "./plan.ts";
import { rangeAllocator } from "./range-allocator.ts";
import { cidrsSource } from "./sources.ts";
import { WaitingNodes } from "./waiting-nodes.ts";

type Context = ControllerContext<NodeIpamOptions>;

/** Concurrent writes: cidrUpdateWorkers in pkg/controller/nodeipam/ipam/cidr_allocator.go v1.36.3. */
const WRITERS = 30;

/** Concurrent lookups of one provider. They share calls. */
const LOOKUPS = 1000;

/** proto/README.md section 5, class U. */
const CLOUD_BACKOFF: ExponentialOptions = { initialMs: 1000, maxMs: 300_000 };

/** Gives each Node its pod CIDRs. Never changes those of a Node that has some. */
export const nodeIpam: Registration<NodeIpamOptions> = {
  name: NODE_IPAM_CONTROLLER,
  queue: "cidrallocator_node",
  shortName: "nodeipam",
  register: (context) => {
    const { options, program } = context;
    if (!options.allocateNodeCidrs) {
      const why = "--allocate-node-cidrs is false";
      program.log.info("Pod CIDRs are not allocated", { controller: NODE_IPAM_CONTROLLER, detail: why });
      return undefined;
    }
    const metrics = once(() => nodeIpamMetrics(program.metrics));
    const controllerOf = options.cidrAllocatorType === "CloudAllocator" ? cloudController : rangeController;
    return { build: () => controllerOf(context, metrics()) };
  },
};

/** Allocates blocks of the cluster CIDRs. */
function rangeController(context: Context, metrics: NodeIpamMetrics): Controller {
  const { options, program } = context;
  const waiting = new WaitingNodes({ wake: (name) => controller.queue.add(name), gauge: metrics.waiting });
  const allocations = new CidrAllocations({
    sets: nodeCidrs(options).map(({ cidr, nodeMaskSize }) => new CidrSet(cidr, nodeMaskSize)),
    reserved: serviceCidrs(options),
    metrics,
    onFreed: () => waiting.wakeAll(),
  });
  const { nodes } = context.cluster;
  const shared = { ...assigning(context), allocations };
  const controller: Controller = new Controller(context, {
    reconciler: rangeAllocator({ ...shared, nodes: nodes.lister, waiting, clock: program.clock }),
    // The allocations hears of each change first.
    sources: [cidrsSource({ ...shared, ...program, nodes }), nodeSource(context)],
    workers: WRITERS,
    backoff: DEFAULT_BACKOFF,
  });
  return controller;
}

/** Uses the CIDRs that the cloud has allocated for the instance. */
function cloudController(context: Context): Controller {
  const { cluster, providers, program } = context;
  const { lister: nodes } = cluster.nodes;
  return new Controller(context, {
    reconciler: cloudAllocator({
      ...assigning(context),
      nodes,
      instances: providers.instances,
      ownWrites: new OwnWrites<Node>(),
      writers: new Semaphore(WRITERS),
      clock: program.clock,
    }),
    sources: [
      nodeSource(context),
      providerReadySource(providers, (queue) => {
        for (const node of nodes.list()) if (needsCidrs(node)) queue.add(keyOf(node));
      }),
    ],
    subqueues: nodeSubqueues(nodes, providers.providers),
    workers: LOOKUPS,
    backoff: CLOUD_BACKOFF,
  });
}

function assigning({ cluster }: Context) {
  return { kube: cluster.client, events: cluster.events.recorder(EVENT_SOURCES.nodeIpam) };
}

function nodeSource({ cluster: { nodes } }: Context): Source {
  return informerSource({
    name: "nodes",
    informer: nodes,
    predicate: { add: needsCidrs, update: changesNeed, delete: () => true },
  });
}
