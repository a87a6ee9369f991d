import type { PlanReport } from "@cloudwire/operator-api";
import { EXIT } from "../../exit-codes.ts";

export interface Verdict {
  readonly kind: "goAhead" | "differences" | "undecided";
  readonly text: string;
  readonly exitCode: number;
}

/** Whether this program could take over without changing or removing anything (docs/explanation/observe-mode.md). */
export function verdictOf({ observing, complete, pending, failedKeys }: PlanReport): Verdict {
  if (!observing)
    return {
      kind: "undecided",
      text: "Nothing is observed: this controller carries out what it plans. One with --mode=observe tells instead; it holds no Lease, so name its pod with --pod.",
      exitCode: EXIT.undecided,
    };
  if (pending.update + pending.delete > 0)
    return {
      kind: "differences",
      text: `There are differences: something that is there would be changed or removed.${complete ? "" : " Not everything has been looked at yet."}`,
      exitCode: EXIT.differences,
    };
  if (!complete) {
    const why = failedKeys.length === 0 ? "not everything has been looked at yet" : "some looks failed";
    return { kind: "undecided", text: `It cannot be told yet: ${why}.`, exitCode: EXIT.undecided };
  }
  return {
    kind: "goAhead",
    text: "Go ahead: everything was looked at, and nothing that is there would be changed or removed.",
    exitCode: EXIT.ok,
  };
}
