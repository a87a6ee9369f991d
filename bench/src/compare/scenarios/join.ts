import { CLOUDWIRE, UPSTREAM_TUNED } from "../peers/names.ts";
import { atRest, FEW_NODES, type Scenario, sizeOf } from "./scenario.ts";

const SPREAD_MS = 5000;

/** Nodes join one after the other, and every load balancer has to forward to them. */
export const join: Scenario = {
  name: "join",
  sizes: { joining: 100, services: 100 },
  peers: [CLOUDWIRE, UPSTREAM_TUNED],
  about: (sizes) =>
    `${sizeOf(sizes, "joining")} nodes join over ${SPREAD_MS / 1000} s, until ${sizeOf(sizes, "services")} load balancers forward to them`,
  run: async (stage, peer, sizes) => {
    const joining = sizeOf(sizes, "joining");
    await atRest(stage, peer, FEW_NODES, sizeOf(sizes, "services"));
    await stage.fromHere();
    await stage.addNodes("late", joining, SPREAD_MS / joining);
    return stage.loadBalancersForwardTo(FEW_NODES + joining);
  },
};
