import type { Batch, Scenario, Session } from "./scenario.ts";
import { dualStackScenarios, singleStackScenarios } from "./scenarios/ipam.ts";
import { lifecycleScenarios } from "./scenarios/lifecycle.ts";
import { longPeriodRestarts, longPeriodScenarios } from "./scenarios/long-periods.ts";
import { nodeScenarios } from "./scenarios/node.ts";
import { refreshScenarios } from "./scenarios/refresh.ts";
import { restartScenarios } from "./scenarios/restart.ts";
import { routeScenarios } from "./scenarios/route.ts";
import { serviceScenarios } from "./scenarios/service.ts";
import {
  deletionFaultScenarios,
  deniedScenarios,
  failingTargetScenarios,
  faultScenarios,
  slowScenarios,
  targetScenarios,
  unseenScenarios,
} from "./scenarios/targets.ts";

/** Periods of a second, so that a suite has the time to see what is done again and again. */
const QUICK = [
  "--leader-elect=false",
  "--node-monitor-period=1s",
  "--node-status-update-frequency=10s",
  "--route-reconciliation-period=1s",
];
/** A deletion is confirmed at once and any number is let through: what the guard does else is in suites of its own. */
const TRUSTING = ["--node-deletion-confirmation-period=1s", "--node-deletion-max-percent=100"];
const ALLOCATING = ["--allocate-node-cidrs", "--configure-cloud-routes=false"];

/** To look into some scenarios alone: CLOUDWIRE_PARITY_ONLY='service: deleted'. */
const only = new RegExp(process.env["CLOUDWIRE_PARITY_ONLY"] ?? "");

const all: readonly Session[] = [
  {
    name: "nodes, Services and routes",
    flags: { both: [...QUICK, "--cluster-cidr=10.200.0.0/16,fd00:200::/48"], upstream: [], ours: TRUSTING },
    pool: true,
    batches: [
      together(failingTargetScenarios),
      together([...nodeScenarios, ...refreshScenarios, ...routeScenarios, ...serviceScenarios]),
      together(targetScenarios),
      ...oneByOne(unseenScenarios),
      together(faultScenarios),
      together(deletionFaultScenarios),
      together(slowScenarios),
      { ...together(restartScenarios), restart: true },
      together(lifecycleScenarios),
      together(deniedScenarios),
    ],
  },
  {
    name: "long periods",
    flags: {
      both: [
        "--leader-elect=false",
        "--node-monitor-period=1s",
        "--route-reconciliation-period=1h",
        "--cluster-cidr=10.200.0.0/16",
      ],
      upstream: ["--concurrent-service-syncs=1"],
      ours: [...TRUSTING, "--load-balancer-drift-period=5s"],
      sidecar: ["--min-resync-interval-ms=5000"],
    },
    pool: false,
    batches: [...oneByOne(longPeriodScenarios), { ...together(longPeriodRestarts), restart: true }],
  },
  {
    name: "node ranges of one family",
    flags: {
      both: [
        ...QUICK,
        ...ALLOCATING,
        "--cluster-cidr=10.60.0.0/24",
        "--node-cidr-mask-size=27",
        "--service-cluster-ip-range=10.60.0.0/27",
      ],
      upstream: [],
      ours: [...TRUSTING, "--controllers=*,node-ipam-controller"],
    },
    pool: false,
    batches: oneByOne(singleStackScenarios),
  },
  {
    name: "node ranges of two families",
    flags: {
      both: [
        ...QUICK,
        ...ALLOCATING,
        "--cluster-cidr=10.61.0.0/24,fd00:61::/63",
        "--node-cidr-mask-size-ipv4=26",
        "--node-cidr-mask-size-ipv6=64",
      ],
      upstream: [],
      ours: [...TRUSTING, "--controllers=*,node-ipam-controller"],
    },
    pool: false,
    batches: oneByOne(dualStackScenarios),
  },
];

export const sessions: readonly Session[] = all
  .map((session) => ({ ...session, batches: session.batches.filter(({ scenarios }) => scenarios.length > 0) }))
  .filter(({ batches }) => batches.length > 0);

/** What of a session some scenarios need. */
export function sessionOf(session: Session, names: ReadonlySet<string>): Session {
  const batches = session.batches
    .map((batch) => ({ ...batch, scenarios: batch.scenarios.filter(({ name }) => names.has(name)) }))
    .filter(({ scenarios }) => scenarios.length > 0);
  return { ...session, batches };
}

function together(scenarios: readonly Scenario[]): Batch {
  return { scenarios: scenarios.filter(({ name }) => only.test(name)) };
}

function oneByOne(scenarios: readonly Scenario[]): readonly Batch[] {
  return scenarios.map((scenario) => together([scenario]));
}
