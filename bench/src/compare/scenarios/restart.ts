import { atRest, type Scenario, STILL_MS, TIMEOUT_MS } from "../scenario.ts";

/** Nothing has to be done, but a new process does not know that yet. */
export const restart: Scenario = {
  name: "restart",
  about: ({ nodes, services }) => `restart with ${nodes} nodes and ${services} Services, until the cloud is left alone`,
  run: async (stage, peer, { nodes, services }) => {
    await atRest(stage, peer, nodes, services);
    await stage.stopPeer();
    // Who does not give it up would wait for it to expire, which hides the work.
    await stage.removeLease();
    await stage.fromHere();
    const startMs = performance.now();
    await stage.startPeer(peer);
    return ((await stage.cloudLeftAlone(STILL_MS, TIMEOUT_MS)) - startMs) / 1000;
  },
};
