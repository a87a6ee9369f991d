import type { LoadBalancerDeletion } from "../../../provider/model/load-balancer.ts";

/** Resources shown in a message. */
const MAX_SHOWN = 5;

/** What an unfinished deletion waits for, and what is left: `waiting for ports to be released; left: security group sg-1`. */
export function deletionDetail({
  operation,
  remaining,
}: Pick<LoadBalancerDeletion, "operation" | "remaining">): string {
  const { stage = "", message = "" } = operation ?? {};
  const left = remaining.length === 0 ? "" : `left: ${remainingText(remaining)}`;
  return [...new Set([stage, message, left])].filter((part) => part !== "").join("; ");
}

function remainingText(remaining: readonly string[]): string {
  const shown = remaining.toSorted().slice(0, MAX_SHOWN).join(", ");
  return remaining.length > MAX_SHOWN ? `${shown} and others` : shown;
}
