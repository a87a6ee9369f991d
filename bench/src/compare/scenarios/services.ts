import { FEW_NODES, type Scenario, secondsSince, STILL_MS, TIMEOUT_MS } from "../scenario.ts";

/** Services are made while the programs run. */
export const services: Scenario = {
  name: "services",
  about: (sizes) => `${sizes.services} Services of type LoadBalancer, until all have an address (${FEW_NODES} nodes)`,
  run: async (stage, peer, sizes) => {
    await stage.addReadyNodes(FEW_NODES);
    await stage.startPeer(peer);
    await stage.cloudLeftAlone(STILL_MS, TIMEOUT_MS);
    await stage.fromHere();
    const startMs = performance.now();
    await stage.addServices(sizes.services);
    await stage.servicesAddressed(sizes.services, TIMEOUT_MS);
    return secondsSince(startMs);
  },
};
