import type { Cause, State } from "@cloudwire/operator-api";

/** The remedy of the cause, or that no action is needed. */
export function remedyOf({ remedy }: Cause, state: State): string {
  return remedy ?? (state === "unmanaged" ? "No action needed." : "No action needed; this resolves automatically.");
}
