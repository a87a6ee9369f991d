import { errorText } from "../check/error-text.ts";
import type { Hooks } from "../check/hooks.ts";
import type { LedgerEntry } from "../contract/ledger.ts";
import { runHook } from "./run-hook.ts";

/** Undoes, the last first, what actions may have done to the cloud. Answers what could not be undone, and why. */
export const undoAll = async (entries: readonly LedgerEntry[], hooks: Hooks): Promise<readonly string[]> => {
  const left: string[] = [];
  const seen = new Set<string>();
  for (const entry of entries.toReversed()) {
    if (entry.kind !== "hook") continue;
    const { undo, variables } = entry;
    // The same fault set by ten checks is undone once.
    const key = JSON.stringify([undo, variables]);
    if (seen.has(key)) continue;
    seen.add(key);
    const hook = hooks[undo];
    const told = { CONFORMANCE_ACTION: undo, CONFORMANCE_CHECK: "cleanup", CONFORMANCE_RUN: "cleanup", ...variables };
    const why =
      hook === undefined
        ? `the configuration has no hook ${undo}`
        : await runHook(undo, hook, told).then(() => undefined, errorText);
    if (why !== undefined) left.push(`${undo} ${Object.values(variables).join(" ")}`.trimEnd().concat(`: ${why}`));
  }
  return left;
};
