import type { PlanReport } from "@cloudwire/operator-api";
import { EXIT } from "../../exit-codes.ts";

export interface PlanResult {
  readonly kind: "safe" | "differences" | "unknown";
  readonly text: string;
  readonly exitCode: number;
}

/** Whether a cutover to this program changes or deletes anything (docs/explanation/observe-mode.md). */
export function planResultOf({ observing, complete, pending, failedKeys }: PlanReport): PlanResult {
  if (!observing)
    return {
      kind: "unknown",
      text: "Unknown: this controller is not in observe mode. Query one with --mode=observe; it holds no Lease, so name its pod with --pod.",
      exitCode: EXIT.unknown,
    };
  if (pending.update + pending.delete > 0)
    return {
      kind: "differences",
      text: `Differences: existing objects or resources would be updated or deleted.${complete ? "" : " The plan is not complete yet."}`,
      exitCode: EXIT.differences,
    };
  if (!complete) {
    const detail = failedKeys.length === 0 ? "the plan is not complete yet" : "some reconciles failed";
    return { kind: "unknown", text: `Unknown: ${detail}.`, exitCode: EXIT.unknown };
  }
  return {
    kind: "safe",
    text: "Safe to proceed: the plan is complete, and nothing that exists would be updated or deleted.",
    exitCode: EXIT.ok,
  };
}
