import { CLOUDWIRE, UPSTREAM, UPSTREAM_TUNED } from "../peers/names.ts";
import { FEW_NODES, type Scenario, sizeOf, STILL_MS } from "./scenario.ts";

/** Of calls about load balancers; clouds limit them. */
const AT_ONCE = 10;

/** Services are made while the programs run. */
export const services: Scenario = {
  name: "services",
  sizes: { services: 500 },
  peers: [CLOUDWIRE, UPSTREAM, UPSTREAM_TUNED],
  about: (sizes) =>
    `${sizeOf(sizes, "services")} Services of type LoadBalancer, until all have an address (${FEW_NODES} nodes, the cloud serves ${AT_ONCE} load balancer calls at once)`,
  run: async (stage, peer, sizes) => {
    await stage.addReadyNodes(FEW_NODES);
    await stage.limitLoadBalancerCalls(AT_ONCE);
    await stage.startPeer(peer);
    await stage.cloudLeftAlone(STILL_MS);
    await stage.fromHere();
    await stage.addServices(sizeOf(sizes, "services"));
    return stage.servicesAddressed(sizeOf(sizes, "services"));
  },
};
