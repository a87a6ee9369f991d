import { atRest, FEW_NODES, type Scenario, secondsSince, TIMEOUT_MS } from "../scenario.ts";

const SPREAD_MS = 5000;

/** Nodes join one after the other, and every load balancer has to forward to them. */
export const join: Scenario = {
  name: "join",
  about: ({ joining, services }) =>
    `${joining} nodes join over ${SPREAD_MS / 1000} s, until ${services} load balancers forward to them`,
  run: async (stage, peer, { joining, services }) => {
    await atRest(stage, peer, FEW_NODES, services);
    await stage.fromHere();
    const startMs = performance.now();
    await stage.addNodes("late", joining, SPREAD_MS / joining);
    await stage.until("all load balancers to have all targets", TIMEOUT_MS, async () => {
      const loadBalancers = await stage.loadBalancers();
      return loadBalancers.every(({ targetCount }) => targetCount === FEW_NODES + joining);
    });
    return secondsSince(startMs);
  },
};
