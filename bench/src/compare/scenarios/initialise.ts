import { CLOUDWIRE, RAW_WRITER, UPSTREAM, UPSTREAM_TUNED } from "../peers/names.ts";
import { type Scenario, sizeOf } from "./scenario.ts";

/** A whole cluster waits for its cloud controller, which is started. */
export const initialise: Scenario = {
  name: "initialise",
  sizes: { nodes: 5000 },
  peers: [CLOUDWIRE, UPSTREAM, UPSTREAM_TUNED, RAW_WRITER],
  about: (sizes) => `${sizeOf(sizes, "nodes")} new nodes, from the start of the programs until all are initialised`,
  hasRawWriter: true,
  run: async (stage, peer, sizes) => {
    await stage.addNodes("n", sizeOf(sizes, "nodes"));
    await stage.fromHere();
    await stage.startPeer(peer);
    return stage.nodesInitialised();
  },
};
