import { commandFlags, isCommandFlag } from "./table.ts";
import { rows } from "./rows.ts";
import { unusedFlags } from "./upstream-flags.ts";

/** What becomes of a flag of upstream's here. */
export type Standing =
  /** Same default, same meaning. */
  | { readonly kind: "same" }
  /** Same name, other default or meaning. */
  | { readonly kind: "mapped"; readonly how: string }
  /** Taken without effect; a warning says what to use. */
  | { readonly kind: "warned"; readonly instead: string };

/** Undefined: the flag is refused. `name` is without dashes. */
export function standingOf(name: string): Standing | undefined {
  const unused = unusedFlags.get(name);
  if (unused !== undefined) return { kind: "warned", instead: unused.instead };
  const row = rows.get(name)?.flag ?? (isCommandFlag(name) ? commandFlags.get(name) : undefined);
  if (row === undefined) return undefined;
  return row.differs === undefined ? { kind: "same" } : { kind: "mapped", how: row.differs };
}
