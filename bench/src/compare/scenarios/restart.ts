import { CLOUDWIRE, UPSTREAM_TUNED } from "../peers/names.ts";
import { atRest, type Scenario, sizeOf, STILL_MS } from "./scenario.ts";

/** Nothing has to be done, but a new process does not know that yet. */
export const restart: Scenario = {
  name: "restart",
  sizes: { nodes: 5000, services: 200 },
  peers: [CLOUDWIRE, UPSTREAM_TUNED],
  about: (sizes) =>
    `restart with ${sizeOf(sizes, "nodes")} nodes and ${sizeOf(sizes, "services")} Services, until the cloud is left alone`,
  run: async (stage, peer, sizes) => {
    await atRest(stage, peer, sizeOf(sizes, "nodes"), sizeOf(sizes, "services"));
    await stage.stopPeer();
    // Who does not give it up would wait for it to expire, which hides the work.
    await stage.removeLease();
    await stage.fromHere();
    await stage.startPeer(peer);
    return stage.cloudLeftAlone(STILL_MS);
  },
};
