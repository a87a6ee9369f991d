import type { CheckOptions, EnsureLoadBalancerInput, ProviderChanges } from "../model/client.ts";
import { hasReason } from "../model/errors.ts";
import type {
  LoadBalancerChange,
  LoadBalancerCheck,
  LoadBalancerPhase,
  PlannedChange,
} from "../model/load-balancer.ts";
import type { Session } from "./session.ts";

/** Asks the provider to compare the cloud objects with the desired state, targets included, and to change nothing. */
export async function checkLoadBalancer(
  session: Session,
  { ensureLoadBalancer }: Pick<ProviderChanges, "ensureLoadBalancer">,
  input: EnsureLoadBalancerInput,
  { signal, priority = "high", lockKey }: CheckOptions,
): Promise<LoadBalancerCheck> {
  const { validateOnly } = await session.capability("loadBalancers", signal);
  if (!validateOnly) return { kind: "unsupported" };
  try {
    const options = { signal, priority, validateOnly: true, trigger: "check", lockKey };
    // The whole nodes: acknowledged ones may no longer be targets.
    return checkOf(await ensureLoadBalancer({ ...input, acknowledgedNodes: undefined }, options));
  } catch (error) {
    if (hasReason(error, "VALIDATE_ONLY_UNSUPPORTED")) return { kind: "unsupported" };
    throw error;
  }
}

const CHANGING: ReadonlySet<LoadBalancerPhase> = new Set(["provisioning", "updating", "deleting"]);

function checkOf({ loadBalancer, plannedChanges }: LoadBalancerChange): LoadBalancerCheck {
  if (loadBalancer === undefined) return { kind: "missing" };
  if (loadBalancer.operation !== undefined || CHANGING.has(loadBalancer.phase)) return { kind: "changing" };
  if (loadBalancer.phase !== "active") return { kind: "differs", differences: [`its phase is ${loadBalancer.phase}`] };
  if (plannedChanges.length === 0) return { kind: "matches", loadBalancer };
  return { kind: "differs", differences: plannedChanges.map(changeText) };
}

/** One planned change in words: `update security group sg-1: open port 80`. */
export function changeText({ action, resourceType, resourceId, summary }: PlannedChange): string {
  const change = [action, resourceType, resourceId].filter((word) => word !== "").join(" ");
  return summary === "" ? change : `${change}: ${summary}`;
}
