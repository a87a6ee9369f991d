import type { Session } from "./scenario.ts";
import { nodeScenarios } from "./scenarios/node.ts";
import { refreshScenarios } from "./scenarios/refresh.ts";
import { serviceScenarios } from "./scenarios/service.ts";

/** Periods of a second, so that a suite has the time to see what is done again and again. */
const QUICK = [
  "--leader-elect=false",
  "--node-monitor-period=1s",
  "--node-status-update-frequency=10s",
  "--route-reconciliation-period=1s",
];
/** A deletion is confirmed at once and any number is let through: what the guard does else is in suites of its own. */
const TRUSTING = ["--node-deletion-span=1s", "--node-deletion-max-percent=100"];

export const sessions: readonly Session[] = [
  {
    name: "nodes, Services and routes",
    flags: { both: [...QUICK, "--cluster-cidr=10.200.0.0/16,fd00:200::/48"], upstream: [], ours: TRUSTING },
    pool: true,
    batches: [[...nodeScenarios, ...refreshScenarios, ...serviceScenarios]],
  },
];
