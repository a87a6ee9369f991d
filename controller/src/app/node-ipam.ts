import { EVENT_SOURCES, NODE_IPAM_CONTROLLER } from "../api/controller-names.ts";
import { type Allocator, nodeIpamController } from "../controllers/node-ipam/controller.ts";
import { nodeIpamMetrics } from "../controllers/node-ipam/metrics.ts";
import { isNodeIpamEnabled, nodeRanges, serviceRanges } from "../controllers/node-ipam/options.ts";
import type { Options } from "./options.ts";
import type { BuildController } from "../runtime/supervised-controller.ts";
import type { ControllersDependencies, SharedMetrics } from "./controllers-dependencies.ts";

/** node-ipam-controller from what the process has; none where nodes get no pod ranges from here, and the log says why. */
export function prepareNodeIpam(dependencies: ControllersDependencies, own: SharedMetrics): BuildController {
  const { options, kube, provider, metrics, log, clock, tracing } = dependencies;
  if (!options.allocateNodeCidrs) {
    log.info("Pod ranges are not allocated", {
      controller: NODE_IPAM_CONTROLLER,
      why: "--allocate-node-cidrs is false",
    });
    return () => undefined;
  }
  const shared = { ...own, metrics: nodeIpamMetrics(metrics) };
  return () =>
    nodeIpamController({
      ...shared,
      nodes: kube.nodes,
      instances: provider.instances,
      providers: provider.providers,
      kube: kube.client,
      events: kube.events.recorder(EVENT_SOURCES.nodeIpam),
      clock,
      log,
      tracing,
      onProviderReady: (listener) => provider.onReady(listener),
      allocator: allocatorOf(options),
    });
}

/** Many set the flag for the allocator of kube-controller-manager: two of them would hand out ranges twice. */
export function tellIfNodeIpamIsOff({ options, log }: Pick<ControllersDependencies, "options" | "log">): void {
  if (!options.allocateNodeCidrs || isNodeIpamEnabled(options)) return;
  const why =
    "--allocate-node-cidrs is true, but the controller is off unless --controllers names it: --controllers=*,nodeipam";
  log.info("Pod ranges are not allocated", { controller: NODE_IPAM_CONTROLLER, why });
}

function allocatorOf(options: Options): Allocator {
  if (options.cidrAllocatorType === "CloudAllocator") return { kind: "cloud" };
  return { kind: "ranges", clusterCidrs: nodeRanges(options), serviceCidrs: serviceRanges(options) };
}
