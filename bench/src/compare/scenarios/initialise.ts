import { type Scenario, secondsSince, TIMEOUT_MS } from "../scenario.ts";

/** A whole cluster waits for its cloud controller, which is started. */
export const initialise: Scenario = {
  name: "initialise",
  about: ({ nodes }) => `${nodes} new nodes, from the start of the programs until all are initialised`,
  hasRawWriter: true,
  run: async (stage, peer, { nodes }) => {
    await stage.addNodes("n", nodes);
    await stage.fromHere();
    const startMs = performance.now();
    await stage.startPeer(peer);
    await stage.nodesInitialised(TIMEOUT_MS);
    return secondsSince(startMs);
  },
};
