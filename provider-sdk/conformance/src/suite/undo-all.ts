import { errorText } from "../error-text.ts";
import type { Hook, HookName, Hooks, HookVariables } from "./hooks.ts";
import type { LedgerEntry } from "./created-resources.ts";
import { runHook } from "./run-hook.ts";

/**
 * Undoes, the last first, what actions may have done to the cloud. Answers what could not be undone, and why: once the signal says that it is
 * enough nothing more is begun, and what is under way has its own limit.
 */
export const undoAll = async (
  entries: readonly LedgerEntry[],
  hooks: Hooks,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const left: string[] = [];
  const seen = new Set<string>();
  for (const entry of entries.toReversed()) {
    if (entry.kind !== "hook") continue;
    const { undo, variables } = entry;
    // The same fault set by ten checks is undone once.
    const key = JSON.stringify([undo, variables]);
    if (seen.has(key)) continue;
    seen.add(key);
    const told = { CONFORMANCE_ACTION: undo, CONFORMANCE_CHECK: "cleanup", CONFORMANCE_RUN: "cleanup", ...variables };
    const why = signal.aborted ? "it was not tried, for time was up" : await undone(undo, hooks[undo], told);
    if (why !== undefined) left.push(`${undo} ${Object.values(variables).join(" ")}`.trimEnd().concat(`: ${why}`));
  }
  return left;
};

/** Undefined, or why it could not be undone. */
const undone = (name: HookName, hook: Hook | undefined, told: HookVariables): Promise<string | undefined> =>
  hook === undefined
    ? Promise.resolve(`the configuration has no hook ${name}`)
    : runHook(name, hook, told).then(() => undefined, errorText);
