import { type DeletionRules, isDeletable } from "../plan.ts";
import type { KnownRoute } from "../route-table.ts";

export interface OrphansInput {
  readonly routes: readonly KnownRoute[];
  /** The list they are from was, and so is what is known of Nodes. */
  readonly complete: boolean;
  readonly rules: DeletionRules;
  /** A Node of that name exists and is not another provider's: its routes are its own reconcile's. */
  readonly isLive: (nodeName: string) => boolean;
}

/** Routes of Nodes that are no more. None of an incomplete picture: a cloud that shows half of its routes may show them wrongly too. */
export function orphans({ routes, complete, rules, isLive }: OrphansInput): readonly KnownRoute[] {
  if (!complete) return [];
  return routes.filter((known) => !isLive(known.nodeName) && isDeletable(known, rules));
}
