import type { Cause, State } from "@cloudwire/operator-api";

/** What to do about it: the cause says so, or nobody need do anything, since it passes or is as somebody wishes. */
export function remedyOf({ remedy }: Cause, state: State): string {
  return remedy ?? (state === "unmanaged" ? "nothing." : "nothing; it passes by itself.");
}
