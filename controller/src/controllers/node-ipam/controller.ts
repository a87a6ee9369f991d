import { NODE_IPAM_CONTROLLER } from "../../api/controller-names.ts";
import { keyOf } from "../../api/meta.ts";
import type { Node } from "../../api/node.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { EventRecorder } from "../../kube/events/broadcaster.ts";
import type { Informer } from "../../kube/cache/lister.ts";
import { OwnWrites } from "../../kube/cache/own-writes.ts";
import type { InstanceReader } from "../../provider/lookup/instance-reader.ts";
import { nodeLanes, workersFor } from "../../provider/ownership/provider-set.ts";
import type { ProviderSet } from "../../provider/model/provider.ts";
import { Controller } from "../../runtime/controller.ts";
import type { ControllerMetrics } from "../../runtime/metrics.ts";
import { informerSource, type Source } from "../../runtime/source.ts";
import type { Logger } from "../../telemetry/log.ts";
import type { Tracing } from "../../telemetry/tracing.ts";
import type { Cidr } from "../../util/cidr.ts";
import { CidrSet } from "./cidr-set.ts";
import type { Clock } from "../../util/clock.ts";
import { Semaphore } from "../../util/semaphore.ts";
import type { QueueMetrics } from "../../workqueue/metrics.ts";
import { DEFAULT_BACKOFF, exponentialLimiter, type ExponentialOptions } from "../../workqueue/rate-limiter.ts";
import { createWorkqueue } from "../../workqueue/rate-limited-queue.ts";
import { cloudAllocator } from "./cloud-allocator.ts";
import type { NodeIpamMetrics } from "./metrics.ts";
import { changesNeed, needsRanges } from "./plan.ts";
import { rangeAllocator } from "./range-allocator.ts";
import { RangeLedger } from "./cidr-allocations.ts";
import { rangesSource } from "./sources.ts";
import { WaitingNodes } from "./waiting-nodes.ts";

/** Where the ranges of Nodes come from (--cidr-allocator-type). */
export type Allocator =
  | {
      readonly kind: "ranges";
      /** Each cluster range, and the prefix length of what a Node gets of it. */
      readonly clusterCidrs: readonly { readonly cidr: Cidr; readonly nodeMaskSize: number }[];
      /** Ranges of Services: never a Node's. */
      readonly serviceCidrs: readonly Cidr[];
    }
  | { readonly kind: "cloud" };

export interface NodeIpamDependencies {
  readonly nodes: Informer<Node>;
  readonly instances: InstanceReader;
  readonly providers: ProviderSet;
  readonly kube: Pick<KubeClient, "get" | "list" | "patch">;
  /** Of source EVENT_SOURCES.nodeIpam. */
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: NodeIpamMetrics;
  /** Of the queue that upstream calls `cidrallocator_node`. */
  readonly queueMetrics: QueueMetrics;
  readonly controllerMetrics: ControllerMetrics;
  readonly tracing: Tracing;
  /** Calls back whenever a provider has become usable; answers how to end that. */
  readonly onProviderReady: (listener: () => void) => () => void;
  readonly allocator: Allocator;
}

/** Nodes written at once: cidrUpdateWorkers in pkg/controller/nodeipam/ipam/cidr_allocator.go v1.36.3. */
const WRITERS = 30;

/** Nodes looked up at once: they share calls, so many of them make few. */
const LOOKUPS = 1000;

/** Each try asks the cloud. proto/README.md section 5, class U. */
const CLOUD_BACKOFF: ExponentialOptions = { initialMs: 1000, maxMs: 300_000 };

/** Gives each Node ranges for its pods: blocks of the cluster's own, or what its cloud has allocated. Never changes what a Node has. */
export function nodeIpamController(deps: NodeIpamDependencies): Controller {
  const { allocator } = deps;
  return allocator.kind === "cloud" ? cloudController(deps) : rangeController(deps, allocator);
}

function rangeController(deps: NodeIpamDependencies, allocator: Extract<Allocator, { kind: "ranges" }>): Controller {
  const { nodes, clock, metrics, queueMetrics } = deps;
  const queue = createWorkqueue({ clock, limiter: exponentialLimiter(DEFAULT_BACKOFF), metrics: queueMetrics });
  const waiting = new WaitingNodes({ wake: (name) => queue.add(name), gauge: metrics.waiting });
  const ledger = new RangeLedger({
    sets: allocator.clusterCidrs.map(({ cidr, nodeMaskSize }) => new CidrSet(cidr, nodeMaskSize)),
    reserved: allocator.serviceCidrs,
    metrics,
    onFreed: () => waiting.wakeAll(),
  });
  return new Controller({
    ...deps,
    name: NODE_IPAM_CONTROLLER,
    reconciler: rangeAllocator({ ...deps, nodes: nodes.lister, ledger, waiting }),
    // The ledger hears of each change first.
    sources: [rangesSource({ ...deps, ledger }), nodeSource(deps)],
    queue,
    workers: WRITERS,
    metrics: deps.controllerMetrics,
  });
}

function cloudController(deps: NodeIpamDependencies): Controller {
  const { nodes, providers, clock, queueMetrics } = deps;
  const ownWrites = new OwnWrites<Node>();
  const writers = new Semaphore(WRITERS);
  return new Controller({
    ...deps,
    name: NODE_IPAM_CONTROLLER,
    reconciler: cloudAllocator({ ...deps, nodes: nodes.lister, ownWrites, writers }),
    sources: [nodeSource(deps), providerReadySource(deps)],
    queue: createWorkqueue({
      clock,
      limiter: exponentialLimiter(CLOUD_BACKOFF),
      metrics: queueMetrics,
      lanes: { laneOf: nodeLanes(nodes.lister, providers), limit: LOOKUPS },
    }),
    workers: workersFor(providers, LOOKUPS),
    metrics: deps.controllerMetrics,
  });
}

function nodeSource({ nodes }: NodeIpamDependencies): Source {
  return informerSource({
    name: "nodes",
    informer: nodes,
    predicate: { add: needsRanges, update: changesNeed, delete: () => true },
  });
}

/** What could not be asked is asked at once, together. */
function providerReadySource({ nodes, onProviderReady }: NodeIpamDependencies): Source {
  return {
    name: "provider ready",
    ready: () => Promise.resolve(),
    start: (queue) =>
      onProviderReady(() => {
        for (const node of nodes.lister.list()) if (needsRanges(node)) queue.add(keyOf(node));
      }),
  };
}
