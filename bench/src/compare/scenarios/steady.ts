import { atRest, type Scenario } from "../scenario.ts";

/** Nothing happens. */
export const steady: Scenario = {
  name: "steady",
  about: ({ nodes, services, steadyMs }) =>
    `${nodes} nodes and ${services} Services, ${steadyMs / 1000} s in which nothing happens`,
  run: async (stage, peer, { nodes, services, steadyMs }) => {
    await atRest(stage, peer, nodes, services);
    await stage.fromHere();
    await stage.pass(steadyMs);
    return steadyMs / 1000;
  },
};
