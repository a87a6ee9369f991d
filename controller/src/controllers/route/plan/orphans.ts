import { type DeletionRules, isDeletable } from "../plan.ts";
import type { KnownRoute } from "../route-table.ts";

export interface OrphansInput {
  readonly routes: readonly KnownRoute[];
  /** The list they are from was, and so is what is known of Nodes. */
  readonly complete: boolean;
  readonly rules: DeletionRules;
  /** Its Node exists, and the route may be that Node's own: then it is its own reconcile's. */
  readonly isLive: (known: KnownRoute) => boolean;
}

/** Routes of Nodes that are no more. None of an incomplete picture: a cloud that shows half of its routes may show them wrongly too. */
export function orphans({ routes, complete, rules, isLive }: OrphansInput): readonly KnownRoute[] {
  if (!complete) return [];
  return routes.filter((known) => isDeletable(known, rules) && !isLive(known));
}
