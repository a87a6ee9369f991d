import type { Claim, Scenario } from "../scenario.ts";

/** Upstream may update the targets of a load balancer before or while it is first ensured, when nodes come and go or at its start. */
const RACE: Claim = {
  id: "S11",
  explains:
    /^event: Service \S+ service-controller (?:Normal UpdatedLoadBalancer |Warning UpdateLoadBalancerFailed .* error: Service \S+ has no load balancer")/,
  sometimes: true,
};

/** For scenarios in which a Service is ensured while something happens to nodes. */
export function withRace(scenario: Scenario): Scenario {
  return { ...scenario, claims: [...scenario.claims, RACE] };
}
