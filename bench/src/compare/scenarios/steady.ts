import { CLOUDWIRE, UPSTREAM_TUNED } from "../peers/names.ts";
import { atRest, type Scenario, sizeOf } from "./scenario.ts";

/** Nothing happens. */
export const steady: Scenario = {
  name: "steady",
  sizes: { nodes: 5000, services: 100, steadySeconds: 600 },
  peers: [CLOUDWIRE, UPSTREAM_TUNED],
  about: (sizes) =>
    `${sizeOf(sizes, "nodes")} nodes and ${sizeOf(sizes, "services")} Services, ${sizeOf(sizes, "steadySeconds")} s in which nothing happens`,
  run: async (stage, peer, sizes) => {
    const seconds = sizeOf(sizes, "steadySeconds");
    await atRest(stage, peer, sizeOf(sizes, "nodes"), sizeOf(sizes, "services"));
    await stage.fromHere();
    await stage.pass(seconds * 1000);
    return { seconds, share: 1 };
  },
};
